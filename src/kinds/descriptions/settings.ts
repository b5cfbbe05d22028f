import type { Definition, Field } from '../../model/rest.ts'
import { DEFINITIONS, definitionNamed } from '../../proxmox/registry.ts'
import { type MappedField, PROVIDER_KINDS, type ProviderKind } from '../settings/provider-table.ts'
import { keyOfSecret, managed } from './crossplane.ts'
import { type Descriptions, under } from './describe.ts'
import { SECRET } from './shared/secret.ts'

/** Descriptions of a setting's place. */
export const SCOPE: Readonly<Record<string, string>> = {
  host: 'The host: the name of a Host, or what Proxmox calls it.',
  vmid: 'The VM that it is about.',
  container: 'The container that it is about.',
  user: 'The user that it belongs to, such as ann@pve.',
  vnet: 'The vnet that it belongs to.',
}

const HOSTS: Readonly<Record<string, Field>> = {
  address: { type: 'text', about: 'Address of the line.' },
  hostnames: { type: 'list', about: 'Names of that address.' },
}

/** Kinds that are made from definitions have their texts there, once for their pages and for `croft explain`. */
export const settingKinds: Readonly<Record<string, Descriptions>> = {
  ...Object.fromEntries(DEFINITIONS.map((definition) => [definition.kind, ownTexts(definition)])),
  ...Object.fromEntries(PROVIDER_KINDS.map((provider) => [provider.kind, managed(providerTexts(provider))])),
}

function ownTexts(definition: Definition): Descriptions {
  const scopes = (definition.scope ?? []).map((scope) => scope.replace('?', ''))
  return {
    ...(definition.identity === undefined ? { id: 'Name in Proxmox. Default: metadata.name.' } : {}),
    ...Object.fromEntries(scopes.map((name) => [name, SCOPE[name] ?? ''])),
    ...fieldTexts(definition.fields),
    connection: 'The Proxmox connection. Needed only where there is more than one.',
    ...(definition.remove === undefined
      ? {}
      : { deletionPolicy: `Delete or Orphan. Default: ${definition.deletion ?? 'Delete'}.` }),
  }
}

function fieldTexts(fields: Readonly<Record<string, Field>>): Descriptions {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => Object.entries(oneField(name, field))))
}

function oneField(name: string, field: Field): Descriptions {
  return {
    [name]: sentence(field.about),
    ...(field.type === 'secret' ? under(name, SECRET) : {}),
    ...under(name, fieldTexts(partsOf(field))),
  }
}

/** Lines of /etc/hosts have the same fields everywhere, so that no definition says them. */
function partsOf(field: Field | undefined): Readonly<Record<string, Field>> {
  return field?.type === 'hosts' ? HOSTS : (field?.parts ?? {})
}

function providerTexts(provider: ProviderKind): Descriptions {
  const { fields } = definitionNamed(provider.definition)
  return {
    ...(provider.id === undefined ? {} : { [provider.id]: 'Name in Proxmox.' }),
    ...(provider.host === undefined ? {} : { [provider.host]: 'The host, as Proxmox calls it.' }),
    ...(provider.guest === true
      ? { vmId: 'The VM that it is about.', containerId: 'The container that it is about.' }
      : {}),
    ...Object.fromEntries(
      Object.entries(provider.fields).flatMap(([name, mapped]) => Object.entries(mappedTexts(name, mapped, fields))),
    ),
  }
}

function mappedTexts(name: string, mapped: MappedField, fields: Readonly<Record<string, Field>>): Descriptions {
  const about = (field: string) => sentence(fields[field]?.about ?? '')
  if (typeof mapped === 'string') return { [name]: about(mapped) }
  if ('secret' in mapped) return keyOfSecret(name, about(mapped.secret))
  if ('words' in mapped) return { [name]: about(mapped.words) }
  if ('priorities' in mapped) return { [name]: 'Hosts and their priorities.' }
  if ('unkept' in mapped) return { [name]: sentence(`Read and not used: ${mapped.why}`) }
  if ('acl' in mapped)
    return {
      [name]: 'Access that it has.',
      [`${name}.path`]: 'Path of the access, such as /vms/108.',
      [`${name}.roleId`]: 'Role that it has there.',
      [`${name}.propagate`]: 'Does the access hold for everything below the path? Default: true.',
    }
  const parts = partsOf(fields[mapped.block])
  return {
    [name]: about(mapped.block),
    ...Object.fromEntries(
      Object.entries(mapped.parts).map(([theirs, ours]) => [`${name}.${theirs}`, sentence(parts[ours]?.about ?? '')]),
    ),
  }
}

/** Some texts are the beginning of a row, others a question. */
function sentence(text: string): string {
  const begun = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
  return /[.?]$/.test(begun) ? begun : `${begun}.`
}
