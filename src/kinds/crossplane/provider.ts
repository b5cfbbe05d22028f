import type { Declaration, ResourceKey } from '../../model/declaration.ts'
import type { Desired } from '../../model/resource.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import { type ProviderConfigSpec, providerConnection } from '../provider-config.ts'
import type { Envelope } from './envelope.ts'

/**
 * Returns the connection of a managed resource. A providerConfigRef is served by the Proxmox connection of that name,
 * or by the one that the ProviderConfig of that name points to; where no Proxmox connection is declared, by the
 * ProviderConfig itself. The only connection there is serves what names none, or a ProviderConfig that points to none.
 */
export function servedBy(
  spec: Envelope,
  declaration: Declaration,
  lookup: Lookup,
): { readonly connection?: string } | { readonly problem: FieldProblem } {
  const declared = lookup.all('Proxmox')
  const configs = lookup.all('ProviderConfig') as readonly Declaration<ProviderConfigSpec>[]
  const serving =
    declared.length > 0 ? declared : configs.filter((one) => providerConnection(one, lookup) !== undefined)
  const connections = serving.map((connection) => connection.name)
  const field =
    spec.providerConfigRef === undefined && spec.providerRef !== undefined ? 'providerRef' : 'providerConfigRef'
  const wanted = spec[field]?.name ?? 'default'
  if (connections.includes(wanted)) return { connection: wanted }
  const isNamed = wanted !== 'default'
  const config =
    lookup.declaration('ProviderConfig', wanted, declaration.namespace) ?? lookup.declaration('ProviderConfig', wanted)
  const target = config?.annotations['croft.dev/connection']
  if (target !== undefined && connections.includes(target)) return { connection: target }
  // Linking refuses an unknown name, unless the connection of that name could not be read.
  if (connections.length < 2)
    return target !== undefined || (isNamed && config === undefined) ? { connection: target ?? wanted } : {}
  return {
    problem: {
      code: 'unknown-connection',
      path: ['spec', field],
      message: `no Proxmox connection serves ${field} ${wanted}; there are ${connections.join(', ')}`,
      hint:
        config === undefined
          ? `name one of them, or declare a ProviderConfig ${wanted} with the annotation croft.dev/connection`
          : `give ProviderConfig ${wanted} the annotation croft.dev/connection`,
    },
  }
}

/** Returns a provider's declaration as a resource on its connection, or why there is none. */
export function served(
  declaration: Declaration<Envelope>,
  lookup: Lookup,
  make: () => { readonly desired: Desired; readonly needs: readonly ResourceKey[] },
) {
  const provider = servedBy(declaration.spec, declaration, lookup)
  if ('problem' in provider) return { problems: [provider.problem] }
  return { role: 'resource' as const, ...provider, ...make() }
}
