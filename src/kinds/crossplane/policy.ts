import type { Policy } from '../../model/declaration.ts'
import { annotatedPolicy, checkAnnotations, EXTERNAL_NAME } from '../fields/annotations.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import type { Envelope } from './envelope.ts'

/**
 * Converts Crossplane's policy. Adopted things stay when the declaration goes, unless it says otherwise: a person made
 * them, so a person removes them.
 */
export function crossplanePolicy(spec: Envelope, manifest: RawManifest, adopt: string | undefined): Policy {
  const policy = annotatedPolicy(manifest)
  const allowed = spec.managementPolicies
  const all = allowed === undefined || allowed.includes('*')
  const writes = all || (allowed.includes('Create') && allowed.includes('Update'))
  const mayDelete = all || allowed.includes('Delete')
  const declared = spec.deletionPolicy ?? (adopt === undefined ? 'Delete' : 'Orphan')
  return {
    ...policy,
    paused: policy.paused || allowed?.length === 0,
    manage: writes ? 'full' : 'observe',
    deletion: mayDelete ? declared : 'Orphan',
    ...(adopt === undefined ? {} : { adopt }),
  }
}

export function checkEnvelope(spec: Envelope, manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = [...checkAnnotations(manifest)]
  const allowed = spec.managementPolicies ?? ['*']
  const partial = allowed.includes('Create') !== allowed.includes('Update')
  if (partial && !allowed.includes('*')) {
    problems.push({
      code: 'not-kept',
      path: ['spec', 'managementPolicies'],
      severity: 'warning',
      message: `croft cannot do only one of Create and Update: it only looks at ${manifest.metadata.name}`,
      hint: 'list both, or Observe alone',
    })
  }
  for (const field of ['writeConnectionSecretToRef', 'publishConnectionDetailsTo'] as const) {
    if (spec[field] !== undefined) {
      problems.push({
        code: 'not-kept',
        path: ['spec', field],
        severity: 'warning',
        message: `croft reads ${field} but writes no connection secrets`,
      })
    }
  }
  return problems
}

export function externalName(manifest: RawManifest): string | undefined {
  return manifest.metadata.annotations[EXTERNAL_NAME]
}
