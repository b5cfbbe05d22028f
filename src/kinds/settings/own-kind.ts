import { z } from 'zod'
import type { Declaration } from '../../model/declaration.ts'
import type { Definition, SettingSpec, SettingValue } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'
import { annotatedPolicy, checkAnnotations } from '../fields/annotations.ts'
import { vmid } from '../fields/number.ts'
import { hostName, objectName } from '../fields/text.ts'
import type { FieldProblem, Kind, Lookup } from '../kind.ts'
import { connectionOf, findHost, nodeOf } from '../machines/bindings.ts'
import { checkInterface } from './check-interface.ts'
import { checkRules } from './check-rules.ts'
import { checkTypes } from './check-types.ts'
import { fieldSchema, idSchema, scopeWord } from './field-schema.ts'
import { settingFrom } from './setting-from.ts'

type OwnSpec = Readonly<Record<string, SettingValue | undefined>>
type SettingScope = NonNullable<Definition['scope']>[number]

/** Returns the keys that a setting's kind depends on. */
export type NeedsOf = (setting: SettingSpec, lookup: Lookup) => readonly string[]

/** The kind in croft.dev/v1alpha1 that a definition gives: schema, id, place and policy all come from its table row. */
export function ownKind(definition: Definition, needsOf: NeedsOf): Kind<OwnSpec> {
  let schema: z.ZodType<OwnSpec> | undefined
  return {
    kind: definition.kind,
    apiVersion: 'croft.dev/v1alpha1',
    accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
    plural: pluralOf(definition.kind),
    shortNames: [],
    summary: definition.about,
    // Made when it is first asked for: most runs meet few of these kinds.
    get schema() {
      schema ??= ownSchema(definition)
      return schema
    },
    check: (spec, manifest) => [
      ...checkAnnotations(manifest),
      ...checkPlace(definition, spec),
      ...checkWho(definition, spec),
      ...checkTypes(
        definition,
        spec.type,
        Object.keys(definition.fields)
          .filter((field) => spec[field] !== undefined)
          .map((field) => ({ field, word: field, path: ['spec', field] })),
      ),
      ...checkRules(definition, spec.rules, ['spec', 'rules']),
      ...checkInterface(
        definition,
        { id: valueText(spec.id ?? manifest.metadata.name), fields: spec as SettingSpec['fields'] },
        (field) => (field === 'id' && spec.id === undefined ? ['metadata', 'name'] : ['spec', field]),
      ),
    ],
    policy: (spec, manifest) => ({
      ...annotatedPolicy(manifest),
      deletion: deletionOf(definition, spec.deletionPolicy),
    }),
    expand(declaration, lookup) {
      const place = placeOf(declaration, lookup)
      if ('problem' in place) return { problems: [place.problem] }
      const setting = ownSetting(definition, declaration, place.host)
      const connection = (declaration.spec.connection as string | undefined) ?? place.connection
      return {
        role: 'resource',
        ...(connection === undefined ? {} : { connection }),
        desired: { type: 'setting', setting },
        needs: needsOf(setting, lookup).filter((key) => key !== declaration.key),
      }
    },
  }
}

/** The setting behind a declaration; `host` is what Proxmox calls the one it names. */
export function ownSetting(definition: Definition, declaration: Declaration<OwnSpec>, host?: string): SettingSpec {
  const { spec } = declaration
  const fields = Object.fromEntries(Object.keys(definition.fields).map((name) => [name, spec[name]]))
  const scope: Record<string, string> = {}
  for (const name of ['vmid', 'container', 'user', 'vnet'] as const)
    if (takes(definition, name) && spec[name] !== undefined) scope[name] = valueText(spec[name])
  const node = takes(definition, 'host') ? (host ?? (spec.host as string | undefined)) : undefined
  return settingFrom(definition, {
    id: (spec.id as string | undefined) ?? declaration.name,
    ...(node === undefined ? {} : { host: node }),
    scope,
    fields,
  })
}

function ownSchema(definition: Definition): z.ZodType<OwnSpec> {
  const shape: Record<string, z.ZodType> = { connection: objectName.optional() }
  if (definition.identity === undefined) shape.id = idSchema.optional()
  for (const one of definition.scope ?? []) {
    const schema = scopeSchema(one)
    shape[one.replace('?', '')] = one.endsWith('?') ? schema.optional() : schema
  }
  for (const [name, field] of Object.entries(definition.fields)) {
    const schema = fieldSchema(name, field)
    shape[name] = field.required === true ? schema : schema.optional()
  }
  if (definition.remove !== undefined) shape.deletionPolicy = z.enum(['Delete', 'Orphan']).optional()
  return z.strictObject(shape) as unknown as z.ZodType<OwnSpec>
}

function scopeSchema(scope: SettingScope): z.ZodType {
  const name = scope.replace('?', '')
  if (name === 'host') return hostName
  return name === 'vmid' || name === 'container' ? vmid : scopeWord
}

function takes(definition: Definition, name: string): boolean {
  return definition.scope?.some((one) => one.replace('?', '') === name) === true
}

function deletionOf({ remove, deletion }: Definition, said: SettingValue | undefined): 'Delete' | 'Orphan' {
  if (remove === undefined) return 'Orphan'
  return said === 'Delete' || said === 'Orphan' ? said : (deletion ?? 'Delete')
}

function checkPlace(definition: Definition, spec: OwnSpec): readonly FieldProblem[] {
  if (!takes(definition, 'container')) return []
  const guests = ['vmid', 'container'].filter((name) => spec[name] !== undefined)
  if (guests.length === 2)
    return [{ code: 'bad-value', path: ['spec', 'container'], message: 'one of vmid and container, not both' }]
  if (guests.length === 0 && definition.scope?.includes('host'))
    return [{ code: 'missing-field', path: ['spec', 'vmid'], message: 'vmid or container is missing' }]
  if (guests.length === 1 && spec.host === undefined)
    return [{ code: 'missing-field', path: ['spec', 'host'], message: 'host is missing: the one that the guest is on' }]
  return []
}

/** Checks that exactly one of several alternative fields is set. */
function checkWho({ identity }: Definition, spec: OwnSpec): readonly FieldProblem[] {
  if (identity === undefined || 'constant' in identity) return []
  return identity.fields.flatMap((names) => {
    const choices = names.split('|')
    const given = choices.filter((name) => spec[name] !== undefined)
    if (given.length === 1) return []
    const message = `${given.length === 0 ? 'one' : 'only one'} of ${choices.join(', ')} is needed`
    return [{ code: given.length === 0 ? 'missing-field' : 'bad-value', path: ['spec', choices[0] ?? ''], message }]
  })
}

/** A host by the name of its Host object, or by what Proxmox calls it. */
function placeOf(
  declaration: Declaration<OwnSpec>,
  lookup: Lookup,
): { readonly host?: string; readonly connection?: string } | { readonly problem: FieldProblem } {
  const name = declaration.spec.host
  const host = typeof name === 'string' ? findHost(name, declaration.namespace, lookup) : undefined
  if (host === undefined) return {}
  const served = connectionOf(host, ['spec', 'host'], lookup)
  return 'problem' in served ? served : { host: nodeOf(host), ...served }
}

/** `ProxmoxAcl` → `proxmoxacls`; enough for a command line. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase()
  if (/(?:s|x|ch|sh)$/.test(word)) return `${word}es`
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`
}
