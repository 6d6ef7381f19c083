# SPDX-License-Identifier: Apache-2.0
"""What every test runs in."""

VARIABLES = {
    "TOY_FILL_FRESH": "1"
}  # elements that nobody wrote, or behind the last one, are seen in results: runtime/Memory.cpp
