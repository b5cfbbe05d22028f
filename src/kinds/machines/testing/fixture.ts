import { type Declaration, resourceKey } from '../../../model/declaration.ts'
import type { VmSpec } from '../../../model/vm.ts'
import type { Lookup } from '../../kind.ts'
import { KINDS } from '../../registry.ts'

/** A declaration of one of our own kinds, checked by its schema. */
export function declare(kind: string, name: string, spec: object, line = 1): Declaration {
  const found = KINDS.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`there is no kind ${kind}`)
  const manifest = { apiVersion: found.apiVersion, kind, metadata: { name, labels: {}, annotations: {} }, spec }
  const parsed = found.schema.parse(spec)
  return {
    key: resourceKey(kind, name),
    apiVersion: found.apiVersion,
    kind,
    name,
    labels: {},
    annotations: {},
    spec: parsed,
    policy: found.policy(parsed, manifest),
    origin: { file: 'a.yaml', line, column: 1 },
    generation: '',
  }
}

export function lookupOf(declarations: readonly Declaration[]): Lookup {
  return {
    all: (kind) => declarations.filter((declaration) => declaration.kind === kind),
    declaration: (kind, name) => declarations.find((one) => one.kind === kind && one.name === name),
  }
}

export function expand(declaration: Declaration, all: readonly Declaration[]) {
  const kind = KINDS.find((one) => one.kind === declaration.kind)
  if (kind === undefined) throw new Error(`there is no kind ${declaration.kind}`)
  return kind.expand(declaration, lookupOf(all))
}

/** The VM that a machine becomes; fails with the problems when it becomes none. */
export function vmOf(declaration: Declaration, all: readonly Declaration[]): VmSpec {
  const expanded = expand(declaration, all)
  if ('role' in expanded && expanded.role === 'resource' && expanded.desired.type === 'vm') return expanded.desired.vm
  throw new Error(JSON.stringify(expanded))
}
