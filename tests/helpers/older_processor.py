"""Run tests with the code that NumPy and OpenBLAS have for an older processor, of those that a machine can be.

``python tests/helpers/older_processor.py ARGUMENTS`` prints what both report, and gives the arguments to pytest. On
x86 it fails if they report what they report otherwise, because the tests would then ask nothing new.
"""

import json
import os
import platform
import subprocess
import sys

KERNELS = "Prescott"  # of OpenBLAS
REPORT = """
import json
from numpy._core import _multiarray_umath as core
from threadpoolctl import threadpool_info
used = [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]
print(json.dumps([used, sorted({str(each.get("architecture")) for each in threadpool_info()})]))
"""


def asked(code, settings=None):
    """What a process prints that has these settings beside those of this one."""
    command = [sys.executable, "-c", code]
    return json.loads(
        subprocess.run(command, env=os.environ | (settings or {}), capture_output=True, check=True).stdout
    )


def main():
    usual = asked(REPORT)
    settings = {  # X86_V3 X86_V4 AVX512_ICL AVX512_SPR of NumPy 2.4; a version names those that it knows
        "NPY_DISABLE_CPU_FEATURES": " ".join(usual[0]),
        "OPENBLAS_CORETYPE": KERNELS,
    }
    older = asked(REPORT, settings)
    for title, (features, kernels) in (("usual", usual), ("older", older)):
        print(
            f"{title}: NumPy with {' '.join(features) or 'its baseline'}; OpenBLAS for {', '.join(kernels) or 'none'}"
        )
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    if is_x86 and (usual[0] == older[0] or usual[1] == older[1]):
        sys.exit("expected other code for an older processor, found the same")
    sys.exit(subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:]], env=os.environ | settings).returncode)


if __name__ == "__main__":
    main()
