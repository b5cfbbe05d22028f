import { anotherBirth } from './another-birth.ts'
import { anotherSystem } from './another-system.ts'
import { blastRadius } from './blast-radius.ts'
import { clusterMember } from './cluster-member.ts'
import { dataDisks } from './data-disks.ts'
import { definitionGone } from './definition-gone.ts'
import { drift } from './drift.ts'
import type { Guard } from './guard.ts'
import { incompleteSource } from './incomplete-source.ts'
import { installChanged } from './install-changed.ts'
import { massAbsence } from './mass-absence.ts'
import { observeOnly } from './observe-only.ts'
import { paused } from './paused.ts'
import { proof } from './proof.ts'
import { protection } from './protection.ts'
import { quota } from './quota.ts'
import { replacement } from './replacement.ts'

/** The guards in order; the first objection counts. A person's choices come before croft's limits. */
export const GUARDS: readonly Guard[] = [
  proof,
  paused,
  observeOnly,
  drift,
  anotherSystem,
  massAbsence,
  protection,
  anotherBirth,
  dataDisks,
  clusterMember,
  replacement,
  incompleteSource,
  definitionGone,
  installChanged,
  blastRadius,
  quota,
]
