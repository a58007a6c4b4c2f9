"""Where the benchmarks and the scripts are; the scripts' modules can be imported after this."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUITES = ROOT / "asv_benchmarks"
sys.path.insert(0, str(ROOT / "scripts"))
