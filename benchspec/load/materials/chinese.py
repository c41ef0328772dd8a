"""chinese-prose: plain sentences of common words in simplified characters."""

# ruff: noqa: SIM905 - a page of words is easier to read than a page of quotation marks

from __future__ import annotations

from collections.abc import Iterator

from benchspec.load.materials.material import Material, Pick

PEOPLE = tuple(
    """
    医生 老师 木匠 司机 厨师 画家 歌手 农民 警察 律师 记者 护士 船长 裁缝 邻居 店主 牧人 猎人 工人 学生
    士兵 商人 诗人 园丁 渔夫 铁匠 祖父 姑娘 客人 骑手 僧人 孩子 旅客 邮差 编辑 翻译 演员 会计 门卫 队长
    """.split()
)

THINGS = tuple(
    """
    书本 灯笼 钥匙 箱子 雨伞 茶壶 毛毯 地图 信封 帽子 篮子 镜子 相册 钟表 木桶 绳子 瓷碗 扇子 风筝 笔记
    葡萄 蜂蜜 面包 苹果 核桃 豆腐 辣椒 玉米 棉布 丝绸 铜锣 笛子 琴弦 墨水 纸船 车轮 屏风 竹筐 皮鞋 手套
    梯子 锤子 斧头 剪刀 围巾 铃铛 棋盘 药方 旗帜 石碑 雕像 瓶盖 火炉 窗帘 枕头 被子 银杯 骨笛 砚台 齿轮
    """.split()
)

PLACES = tuple(
    """
    河边 山顶 车站 码头 集市 花园 庭院 街角 图书馆 博物馆 寺庙 学校 工厂 田野 森林 海岛 草原 村口 桥下 屋檐下
    城墙 酒馆 果园 仓库 港口 广场 湖畔 矿井 病房 剧院 机场 沙漠 峡谷 教室 厨房 阳台 岸上 洞口 井旁 路边
    """.split()
)

TIMES = tuple(
    """
    清晨 黄昏 午后 深夜 昨天 去年 春天 夏末 秋天 冬天 周末 雨后 节日里 从前 后来 傍晚 那天 当时 前天 不久
    """.split()
)

ADJECTIVES = tuple(
    """
    古老 明亮 安静 破旧 沉重 柔软 精致 漂亮 普通 奇怪 巨大 细小 温暖 冰冷 干净 潮湿 结实 鲜红 金色 蓝色
    陌生 熟悉 珍贵 简单 复杂 宽大 狭窄 笨重 轻便 朴素 空荡 圆形 方正 光滑 粗糙 崭新 甜美 苦涩 浓厚 整齐
    """.split()
)

MANNERS = tuple(
    """
    慢慢地 悄悄地 认真地 匆忙地 小心地 高兴地 默默地 仔细地 突然 终于 仍然 再次 立刻 偷偷地 勉强 常常
    """.split()
)

VERBS = tuple(
    """
    找到 修好 带走 打开 藏起 卖掉 看见 画下 送来 洗净 举起 放下 收集 发现 补好 卷起 买下 挑选 测量 搬动
    打碎 借走 归还 缝补 擦亮 描述 保存 装满 拾起 捡到 交换 赠送 敲响 移开 埋下 烧掉 数完 称赞 推倒 抱住
    """.split()
)

# No two begin with the same character.
OPENERS = tuple(
    {word[0]: word for word in (*ADJECTIVES, *VERBS, *PLACES, *TIMES, *PEOPLE, *THINGS)}.values()
)


def _sentences(pick: Pick) -> Iterator[str]:
    while True:
        yield from (pick(TIMES) + "，", pick(ADJECTIVES) + "的", pick(PEOPLE), "在", pick(PLACES))
        yield from (pick(MANNERS), pick(VERBS) + "了", "一件", pick(ADJECTIVES) + "的")
        yield pick(THINGS) + "。"


CHINESE = Material("chinese-prose", OPENERS, _sentences, tokens_per_piece=1.9)
