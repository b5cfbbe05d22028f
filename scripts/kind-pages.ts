import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { SCOPE } from '../src/kinds/descriptions/settings.ts'
import { type MappedField, PROVIDER_KINDS, type ProviderKind } from '../src/kinds/settings/provider-table.ts'
import type { Definition, Field, SettingValue } from '../src/model/rest.ts'
import { DEFINITIONS, definitionNamed } from '../src/proxmox/registry.ts'
import { startedAs } from './started.ts'

/**
 * Writes the pages of the kinds that are made from definitions: `node bin/run scripts/kind-pages.ts`. A test holds the
 * pages in docs/kinds against what this gives, so that a changed definition cannot leave its page behind.
 */
export function kindPages(): ReadonlyMap<string, string> {
  const pages = DEFINITIONS.map((definition) => [fileNameOf(definition.kind), ownPage(definition)] as const)
  const provided = PROVIDER_KINDS.map((provider) => [fileNameOf(provider.kind), providerPage(provider)] as const)
  return new Map([...pages, ...provided])
}

/** `EnvironmentDownloadFile` → `environment-download-file.md`. */
export function fileNameOf(kind: string): string {
  return `${kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`
}

function ownPage(definition: Definition): string {
  const rows: string[][] = []
  if (definition.identity === undefined) rows.push(['`id`', 'Name in Proxmox. Default: metadata.name.'])
  for (const scope of definition.scope ?? []) {
    const name = scope.replace('?', '')
    rows.push([`\`${name}\``, `${SCOPE[name]}${scope.endsWith('?') ? '' : ' Required.'}`])
  }
  for (const [name, field] of Object.entries(definition.fields)) rows.push([`\`${name}\``, meaning(field)])
  rows.push(['`connection`', 'The Proxmox connection. Needed only where there is more than one.'])
  if (definition.remove !== undefined)
    rows.push(['`deletionPolicy`', `\`Delete\` or \`Orphan\`. Default: \`${definition.deletion ?? 'Delete'}\`.`])
  const manifest = {
    apiVersion: 'croft.dev/v1alpha1',
    kind: definition.kind,
    metadata: { name: definition.exampleName ?? definition.name },
    spec: definition.example,
  }
  return page(definition.kind, [definition.about, ...notes(definition)], ['Field', 'Meaning'], rows, manifest)
}

function notes(definition: Definition): readonly string[] {
  const kept =
    definition.create === undefined
      ? 'It always exists: croft never creates it, and leaves it as it is when you remove the declaration.'
      : definition.remove === undefined
        ? 'It stays when you remove the declaration.'
        : 'If one of that name exists already, croft manages it as declared and never deletes it: croft deletes only what it created.'
  const secrets = Object.values(definition.fields).some(({ type }) => type === 'secret')
  return [
    kept,
    'croft compares only the fields that you write. An empty text or list resets a value.',
    ...(definition.apply === undefined
      ? []
      : [
          `Proxmox keeps changes pending until they are applied; croft applies them in a separate step, which the plan shows.`,
        ]),
    ...(secrets
      ? [
          'Secrets are references (`env`, `file` or `secretRef`). Proxmox never shows them again, so croft cannot compare them: it sends them at creation, and again when the annotation `croft.dev/rotate` changes.',
        ]
      : []),
    `The token needs ${definition.privileges.join('; ')}.`,
  ]
}

function meaning(field: Field): string {
  const choices = field.choices === undefined ? '' : ` One of ${field.choices.map((one) => `\`${one}\``).join(', ')}.`
  const parts =
    field.parts === undefined
      ? ''
      : ` Fields: ${Object.entries(field.parts)
          .map(([name, part]) => `\`${name}\` (${part.about.replace(/[.?]$/, '').toLowerCase()})`)
          .join(', ')}.`
  return `${field.about}${choices}${parts}${field.required === true ? ' Required.' : ''}${field.fixed === true ? ' Cannot be changed later.' : ''}`
}

function providerPage(provider: ProviderKind): string {
  const definition = definitionNamed(provider.definition)
  const rows: string[][] = []
  if (provider.id !== undefined) rows.push([`\`${provider.id}\``, 'Name in Proxmox.'])
  if (provider.host !== undefined) rows.push([`\`${provider.host}\``, 'The host.'])
  if (provider.guest === true) rows.push(['`vmId`, `containerId`', 'The guest that it is about.'])
  for (const [name, mapped] of Object.entries(provider.fields))
    rows.push([`\`${name}\``, mappedMeaning(mapped, definition)])
  const about = [
    `${definition.about} In the form of Crossplane's provider-proxmox-bpg: groups \`${provider.group}.crossplane.io\` and \`${provider.group}.proxmoxbpg.crossplane.io\`, each also with \`.m.\` for the namespaced form.`,
    `It manages the same object as [${definition.kind}](${fileNameOf(definition.kind)}), whose page has more details.`,
  ]
  const after =
    'Around it: `forProvider`, `initProvider` (used like `forProvider`), `providerConfigRef`, `providerRef`, `deletionPolicy`, `managementPolicies`, `writeConnectionSecretToRef`, `publishConnectionDetailsTo`, as in [EnvironmentVM](environment-vm.md).'
  const manifest = {
    apiVersion: `${provider.group}.crossplane.io/v1alpha1`,
    kind: provider.kind,
    metadata: { name: definition.exampleName ?? definition.name },
    spec: { forProvider: providerExample(provider, definition), providerConfigRef: { name: 'default' } },
  }
  return page(provider.kind, about, ['Field of `forProvider`', 'Meaning'], rows, manifest, after)
}

function mappedMeaning(mapped: MappedField, { fields }: Definition): string {
  if (typeof mapped === 'string') return meaning(fields[mapped] ?? { type: 'text', about: '' })
  if ('secret' in mapped) return `${fields[mapped.secret]?.about ?? ''} A reference to a secret.`
  if ('words' in mapped) return fields[mapped.words]?.about ?? ''
  if ('priorities' in mapped) return 'Hosts and their priorities.'
  if ('acl' in mapped) return 'Access that it has: `path`, `roleId`, `propagate`.'
  if ('unkept' in mapped) return `Read and not used, with a warning: ${mapped.why}.`
  const names = Object.keys(mapped.parts).map((name) => `\`${name}\``)
  return `${fields[mapped.block]?.about ?? ''} Fields: ${names.join(', ')}.`
}

function providerExample(provider: ProviderKind, definition: Definition): Record<string, unknown> {
  const { example } = definition
  const given: Record<string, unknown> = {}
  if (provider.id !== undefined) given[provider.id] = example.id ?? definition.exampleName ?? definition.name
  if (provider.host !== undefined && example.host !== undefined) given[provider.host] = example.host
  if (provider.guest === true && example.vmid !== undefined) given.vmId = example.vmid
  for (const [name, mapped] of Object.entries(provider.fields)) {
    const value = theirs(mapped, example)
    const repeated =
      typeof mapped === 'string' && Object.entries(provider.fields).find(([, one]) => one === mapped)?.[0] !== name
    if (value !== undefined && !repeated) given[name] = value
  }
  return given
}

function theirs(mapped: MappedField, example: Readonly<Record<string, SettingValue>>): unknown {
  if (typeof mapped === 'string') return example[mapped]
  if ('secret' in mapped)
    return example[mapped.secret] === undefined ? undefined : { name: 'croft', namespace: 'croft', key: mapped.secret }
  if ('words' in mapped) return (example[mapped.words] as readonly string[] | undefined)?.join(' ')
  if ('priorities' in mapped) {
    const hosts = (example[mapped.priorities] ?? []) as readonly string[]
    return Object.fromEntries(hosts.map((host) => [host.split(':')[0], Number(host.split(':')[1] ?? 0)]))
  }
  if (!('block' in mapped)) return undefined
  const value = example[mapped.block]
  if (value === undefined) return undefined
  const rows = [value].flat() as readonly Readonly<Record<string, SettingValue>>[]
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(mapped.parts).flatMap(([name, ours]) => (row[ours] === undefined ? [] : [[name, row[ours]]])),
    ),
  )
}

function page(
  title: string,
  paragraphs: readonly string[],
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  manifest: unknown,
  after?: string,
): string {
  const table = [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
  const example = `\`\`\`yaml\n${stringify(manifest, { lineWidth: 0 })}\`\`\``
  return `${[`# ${title}`, ...paragraphs, table, ...(after === undefined ? [] : [after]), example].join('\n\n')}\n`
}

const FOLDER = join(import.meta.dirname, '../docs/kinds')

/** Pages that are not as they should be. */
export function stalePages(): readonly string[] {
  const there = new Set(readdirSync(FOLDER))
  return [...kindPages()]
    .filter(([name, text]) => !there.has(name) || readFileSync(join(FOLDER, name), 'utf8') !== text)
    .map(([name]) => name)
}

if (startedAs(import.meta.filename)) for (const [name, text] of kindPages()) writeFileSync(join(FOLDER, name), text)
