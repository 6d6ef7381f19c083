// SPDX-License-Identifier: Apache-2.0
// All operations of the toy dialect.
include "ir/ToyElementwiseOps.td"
include "ir/ToyReductionOps.td"
include "ir/ToyShapeOps.td"
include "ir/ToyIndexingOps.td"
include "ir/ToyDataOps.td"
include "ir/ToyListOps.td"
include "ir/ToyLibraryOps.td"
include "ir/ToyCollectiveOps.td"
include "ir/ToyFusionOps.td"
