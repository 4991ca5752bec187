// SPDX-License-Identifier: Apache-2.0
// The probe: filled in by its own commits.
