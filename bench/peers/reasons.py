# SPDX-License-Identifier: Apache-2.0
"""Why a cell is below 1: expressions for its name, dtype and class, and a sentence. The first that fits is written
beside it."""
REASONS = []
