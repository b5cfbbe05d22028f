import { DEFAULT_POLICY, type FirstBoot, type Policy } from '../../model/declaration.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import { show, unknownField } from './explain.ts'

export const EXTERNAL_NAME = 'crossplane.io/external-name'

/** `dependsOn` and `readyWhen` of foreign kinds: keys with commas between them, one expression. */
export const DEPENDS_ON = 'croft.dev/depends-on'
export const READY_WHEN = 'croft.dev/ready-when'

const SWITCHES = ['croft.dev/protect', 'croft.dev/paused', 'crossplane.io/paused'] as const
const OWN = [
  'croft.dev/protect',
  'croft.dev/paused',
  'croft.dev/replace',
  'croft.dev/connection',
  'croft.dev/fingerprint',
  'croft.dev/rotate',
  'croft.dev/drift',
  'croft.dev/cloud-init',
  'croft.dev/birth',
  DEPENDS_ON,
  READY_WHEN,
]

/** Wrong or unknown annotations of ours. Other people's annotations are their business. */
export function checkAnnotations(manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const [name, value] of Object.entries(manifest.metadata.annotations)) {
    const path = ['metadata', 'annotations', name]
    if (name.startsWith('croft.dev/') && !OWN.includes(name)) problems.push(unknownField(path, name, OWN))
    if (SWITCHES.some((known) => known === name) && value !== 'true' && value !== 'false') {
      problems.push({ code: 'bad-value', path, message: `${name} is ${show(value)}; it may be "true" or "false"` })
    }
    if (name === 'croft.dev/replace' && value !== 'allowed' && value !== 'refused') {
      problems.push({ code: 'bad-value', path, message: `${name} is ${show(value)}; it may be "allowed" or "refused"` })
    }
    if (name === 'croft.dev/drift' && !isDriftPolicy(value)) {
      const message = `${name} is ${show(value)}; it may be "correct", "report" or "ignore"`
      problems.push({ code: 'bad-value', path, message })
    }
    if (name === 'croft.dev/cloud-init' && !isFirstBoot(value)) {
      const message = `${name} is ${show(value)}; it may be "require" or "report"`
      problems.push({ code: 'bad-value', path, message })
    }
  }
  return problems
}

function isFirstBoot(value: string | undefined): value is FirstBoot {
  return value === 'require' || value === 'report'
}

function isDriftPolicy(value: string | undefined): value is 'correct' | 'report' | 'ignore' {
  return value === 'correct' || value === 'report' || value === 'ignore'
}

/** Returns the policy in the annotations; a kind overrides it with its own fields. */
export function annotatedPolicy(manifest: RawManifest): Policy {
  const annotations = manifest.metadata.annotations
  const drift = annotations['croft.dev/drift']
  const firstBoot = annotations['croft.dev/cloud-init']
  const birth = annotations['croft.dev/birth']
  return {
    ...DEFAULT_POLICY,
    protect: annotations['croft.dev/protect'] === 'true',
    paused: annotations['croft.dev/paused'] === 'true' || annotations['crossplane.io/paused'] === 'true',
    replace: annotations['croft.dev/replace'] === 'allowed' ? 'allowed' : 'refused',
    ...(annotations['croft.dev/rotate'] === undefined ? {} : { rotate: annotations['croft.dev/rotate'].slice(0, 200) }),
    ...(isDriftPolicy(drift) ? { drift } : {}),
    ...(annotations['croft.dev/protect'] === 'false' ? { dataMayGo: true as const } : {}),
    ...(isFirstBoot(firstBoot) ? { firstBoot } : {}),
    ...(birth === undefined ? {} : { birth }),
  }
}
