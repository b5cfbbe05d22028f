import { z } from 'zod'
import type { Declaration } from '../../model/declaration.ts'
import type { Definition, Field, SettingSpec } from '../../model/rest.ts'
import { definitionNamed } from '../../proxmox/registry.ts'
import { crossplaneGroup, type Envelope, envelope, isNamespaced } from '../crossplane/envelope.ts'
import { checkEnvelope, crossplanePolicy, externalName } from '../crossplane/policy.ts'
import { servedBy } from '../crossplane/provider.ts'
import { block, blocks } from '../fields/block.ts'
import { vmid } from '../fields/number.ts'
import { dnsName, hostName, matching, objectName } from '../fields/text.ts'
import type { FieldProblem, Kind, Part } from '../kind.ts'
import { checkInterface } from './check-interface.ts'
import { checkRules } from './check-rules.ts'
import { checkTypes } from './check-types.ts'
import { fieldSchema, idSchema, scopeWord } from './field-schema.ts'
import { type NeedsOf, pluralOf } from './own-kind.ts'
import { ownAccess, type ProviderFields, providerSetting } from './provider-fields.ts'
import type { MappedField, ProviderKind } from './provider-table.ts'

const secretRef = z.strictObject({ name: objectName, namespace: objectName.optional(), key: scopeWord })

/** The schema of a managed kind: the provider's names, with what our fields take. */
function providerSchema(provider: ProviderKind, definition: Definition) {
  const shape: Record<string, z.ZodType> = {}
  if (provider.id !== undefined) shape[provider.id] = idSchema
  if (provider.host !== undefined) shape[provider.host] = hostName
  if (provider.guest === true) Object.assign(shape, { vmId: vmid, containerId: vmid })
  for (const [name, mapped] of Object.entries(provider.fields)) shape[name] = mappedSchema(mapped, definition)
  const fields = Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, schema.optional()]))
  return z.strictObject({
    ...envelope,
    forProvider: z.strictObject(fields),
    initProvider: z.strictObject(fields).optional(),
  })
}

function mappedSchema(mapped: MappedField, { fields }: Definition): z.ZodType {
  if (typeof mapped === 'string') return fieldSchema(mapped, fieldOf(fields, mapped))
  if ('secret' in mapped) return secretRef
  if ('words' in mapped) return matching(/^[0-9][0-9 ,-]*$/, 'numbers and ranges, separated by spaces', 1000)
  if ('priorities' in mapped) return z.record(hostName, z.number().min(0).max(1000).nullable())
  if ('acl' in mapped)
    return blocks(z.strictObject({ path: scopeWord, roleId: scopeWord, propagate: z.boolean().optional() }), 200)
  if ('unkept' in mapped)
    return { text: scopeWord, number: z.number().min(0).max(4_294_967_295), flag: z.boolean() }[mapped.unkept]
  return blockSchema(mapped, fieldOf(fields, mapped.block))
}

function blockSchema(mapped: Extract<MappedField, { readonly block: string }>, field: Field): z.ZodType {
  if (field.type === 'hosts')
    return blocks(z.strictObject({ address: scopeWord, hostnames: z.array(dnsName).min(1).max(64) }), 2000)
  const whole = fieldSchema(mapped.block, field)
  const row = (whole instanceof z.ZodArray ? whole.element : whole) as z.ZodObject
  const shape = Object.fromEntries(
    Object.entries(mapped.parts).map(([theirs, ours]) => [theirs, row.shape[ours] ?? z.never()]),
  )
  return mapped.many ? blocks(z.strictObject(shape), 5000) : block(z.strictObject(shape))
}

/** Returns the given fields of the definition, under the provider's names. */
function saidIn(provider: ProviderKind, given: ProviderFields) {
  return Object.entries(provider.fields).flatMap(([word, mapped]) => {
    if (given[word] === undefined) return []
    const field = typeof mapped === 'string' ? mapped : 'secret' in mapped ? mapped.secret : undefined
    return field === undefined ? [] : [{ field, word, path: ['spec', 'forProvider', word] }]
  })
}

function fieldOf(fields: Definition['fields'], name: string): Field {
  const found = fields[name]
  if (found === undefined) throw new Error(`the table of the provider names the field ${name}, which is not there`)
  return found
}

export type ProviderSpec = Envelope & { readonly forProvider: ProviderFields; readonly initProvider?: ProviderFields }

/** A managed kind of provider-proxmox-bpg: its own words around one of our settings. */
export function providerKind(provider: ProviderKind, needsOf: NeedsOf): Kind<ProviderSpec> {
  const definition = definitionNamed(provider.definition)
  let schema: z.ZodType<ProviderSpec> | undefined
  return {
    kind: provider.kind,
    apiVersion: `${provider.group}.crossplane.io/v1alpha1`,
    accepts: crossplaneGroup(provider.group),
    namespaced: isNamespaced,
    plural: pluralOf(provider.kind),
    shortNames: [],
    summary: `${definition.about} In the form of Crossplane's provider-proxmox-bpg.`,
    get schema() {
      schema ??= providerSchema(provider, definition) as unknown as z.ZodType<ProviderSpec>
      return schema
    },
    check(spec, manifest) {
      const given = allFields(spec)
      return [
        ...checkEnvelope(spec, manifest),
        ...missing(provider, given),
        ...unkept(provider, spec),
        ...checkTypes(definition, given.type, saidIn(provider, given)),
        ...checkGuest(provider, given),
        ...checkWho(provider, given),
        ...checkInterface(definition, providerSetting(provider, definition, given), (field) => [
          'spec',
          'forProvider',
          field === 'tag' ? 'vlan' : field,
        ]),
        ...checkRules(definition, providerSetting(provider, definition, given).fields.rules, [
          'spec',
          'forProvider',
          'rule',
        ]),
      ]
    },
    policy(spec, manifest) {
      const policy = crossplanePolicy(spec, manifest, externalName(manifest))
      return definition.remove === undefined ? { ...policy, deletion: 'Orphan' } : policy
    },
    expand(declaration, lookup) {
      const served = servedBy(declaration.spec, declaration, lookup)
      if ('problem' in served) return { problems: [served.problem] }
      const setting = providerSettingOf(provider, declaration)
      const connection = served.connection === undefined ? {} : { connection: served.connection }
      const needs = needsOf(setting, lookup).filter((key) => key !== declaration.key)
      const access = accessParts(provider, setting, declaration).map((part) => ({ ...part, ...connection }))
      const desired = { type: 'setting', setting } as const
      if (access.length === 0) return { role: 'resource', ...connection, desired, needs }
      return { role: 'resources', parts: [{ key: declaration.key, ...connection, desired, needs }, ...access] }
    },
  }
}

export function providerSettingOf(provider: ProviderKind, declaration: Declaration<ProviderSpec>): SettingSpec {
  return providerSetting(provider, definitionNamed(provider.definition), allFields(declaration.spec))
}

function allFields(spec: ProviderSpec): ProviderFields {
  return spec.initProvider === undefined ? spec.forProvider : { ...spec.initProvider, ...spec.forProvider }
}

function missing(provider: ProviderKind, given: ProviderFields): readonly FieldProblem[] {
  return provider.required
    .filter((field) => given[field] === undefined)
    .map((field) => ({ code: 'missing-field', path: ['spec', 'forProvider', field], message: `${field} is missing` }))
}

function unkept(provider: ProviderKind, spec: ProviderSpec): readonly FieldProblem[] {
  const problems: FieldProblem[] = Object.entries(provider.fields).flatMap(([field, mapped]) => {
    if (typeof mapped === 'string' || !('unkept' in mapped) || spec.forProvider[field] === undefined) return []
    const message = `croft reads ${field} but does not use it: ${mapped.why}`
    return [{ code: 'not-kept', path: ['spec', 'forProvider', field], severity: 'warning', message }]
  })
  if (spec.initProvider === undefined) return problems
  const message = 'croft keeps what initProvider says after creation too, as if it stood in forProvider'
  return [...problems, { code: 'not-kept', path: ['spec', 'initProvider'], severity: 'warning', message }]
}

function checkGuest(provider: ProviderKind, given: ProviderFields): readonly FieldProblem[] {
  if (provider.guest !== true) return []
  const at = (field: string) => ['spec', 'forProvider', field]
  if (given.vmId !== undefined && given.containerId !== undefined)
    return [{ code: 'bad-value', path: at('containerId'), message: 'one of vmId and containerId, not both' }]
  const guest = given.vmId ?? given.containerId
  if (guest !== undefined && given.nodeName === undefined)
    return [{ code: 'missing-field', path: at('nodeName'), message: 'nodeName is missing: the host of the guest' }]
  if (guest === undefined && provider.required.includes('nodeName'))
    return [{ code: 'missing-field', path: at('vmId'), message: 'vmId or containerId is missing' }]
  return []
}

/** Checks that a permission is for exactly one user, group or token. */
function checkWho(provider: ProviderKind, given: ProviderFields): readonly FieldProblem[] {
  if (provider.definition !== 'acl') return []
  const who = ['userId', 'groupId', 'tokenId'].filter((field) => given[field] !== undefined)
  if (who.length === 1) return []
  const message = `${who.length === 0 ? 'one' : 'only one'} of userId, groupId, tokenId is needed`
  return [{ code: who.length === 0 ? 'missing-field' : 'bad-value', path: ['spec', 'forProvider', 'userId'], message }]
}

/** Returns the permissions in a user's or group's own declaration: separate settings, one line each. */
function accessParts(
  provider: ProviderKind,
  setting: SettingSpec,
  declaration: Declaration<ProviderSpec>,
): readonly Part[] {
  const who = provider.definition === 'group' ? 'group' : 'user'
  return ownAccess(provider, allFields(declaration.spec)).map(({ path, roleId, propagate }) => ({
    key: `${declaration.key}@${path} ${roleId}`,
    desired: {
      type: 'setting',
      setting: {
        definition: 'acl',
        id: `${path} ${setting.id} ${roleId}`,
        fields: { path, role: roleId, [who]: setting.id, ...(propagate === undefined ? {} : { propagate }) },
      },
    },
    needs: [declaration.key],
  }))
}
