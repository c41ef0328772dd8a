"""What prompts are made of, by the name that a spec gives in `workload.label.material`."""

from __future__ import annotations

from benchspec.load.materials.chinese import CHINESE
from benchspec.load.materials.code import CODE
from benchspec.load.materials.english import ENGLISH
from benchspec.load.materials.material import Material

MATERIALS: dict[str, Material] = {one.name: one for one in (ENGLISH, CHINESE, CODE)}
