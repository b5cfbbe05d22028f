import type { z } from 'zod'
import type { Declaration } from '../../model/declaration.ts'
import type { SettingSpec } from '../../model/rest.ts'
import { definitionNamed } from '../../proxmox/registry.ts'
import { crossplaneGroup, type Envelope, isNamespaced } from '../crossplane/envelope.ts'
import { checkEnvelope, crossplanePolicy, externalName } from '../crossplane/policy.ts'
import { servedBy } from '../crossplane/provider.ts'
import type { FieldProblem, Kind, Part } from '../kind.ts'
import { checkRules } from './check-rules.ts'
import { checkVlan } from './check-vlan.ts'
import { type NeedsOf, pluralOf } from './own-kind.ts'
import { ownAccess, type ProviderFields, providerSetting } from './provider-fields.ts'
import { providerSchema } from './provider-schema.ts'
import type { ProviderKind } from './provider-table.ts'

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
        ...checkGuest(provider, given),
        ...checkWho(provider, given),
        ...checkVlan(definition, providerSetting(provider, definition, given), ['spec', 'forProvider', 'vlan']),
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

/** A line of access control is for exactly one. */
function checkWho(provider: ProviderKind, given: ProviderFields): readonly FieldProblem[] {
  if (provider.definition !== 'acl') return []
  const who = ['userId', 'groupId', 'tokenId'].filter((field) => given[field] !== undefined)
  if (who.length === 1) return []
  const message = `${who.length === 0 ? 'one' : 'only one'} of userId, groupId, tokenId is needed`
  return [{ code: who.length === 0 ? 'missing-field' : 'bad-value', path: ['spec', 'forProvider', 'userId'], message }]
}

/** A user or a group that brings its own access: one line each, kept beside it. */
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
