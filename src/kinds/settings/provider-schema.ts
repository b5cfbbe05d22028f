import { z } from 'zod'
import type { Definition, Field } from '../../model/rest.ts'
import { envelope } from '../crossplane/envelope.ts'
import { block, blocks } from '../fields/block.ts'
import { vmid } from '../fields/number.ts'
import { dnsName, hostName, objectName } from '../fields/text.ts'
import { fieldSchema, idSchema, scopeWord } from './field-schema.ts'
import type { Mapped, ProviderKind } from './provider-table.ts'

const secretRef = z.strictObject({ name: objectName, namespace: objectName.optional(), key: scopeWord })

/** The schema of a managed kind: the provider's names, with what our fields take. */
export function providerSchema(provider: ProviderKind, definition: Definition) {
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

function mappedSchema(mapped: Mapped, { fields }: Definition): z.ZodType {
  if (typeof mapped === 'string') return fieldSchema(mapped, fieldOf(fields, mapped))
  if ('secret' in mapped) return secretRef
  if ('words' in mapped)
    return z
      .string()
      .max(1000)
      .regex(/^[0-9][0-9 ,-]*$/, { error: 'numbers and ranges, separated by spaces' })
  if ('priorities' in mapped) return z.record(hostName, z.number().min(0).max(1000).nullable())
  if ('acl' in mapped)
    return blocks(z.strictObject({ path: scopeWord, roleId: scopeWord, propagate: z.boolean().optional() }), 200)
  if ('unkept' in mapped)
    return { text: scopeWord, number: z.number().min(0).max(4_294_967_295), flag: z.boolean() }[mapped.unkept]
  return blockSchema(mapped, fieldOf(fields, mapped.block))
}

function blockSchema(mapped: Extract<Mapped, { readonly block: string }>, field: Field): z.ZodType {
  if (field.type === 'hosts')
    return blocks(z.strictObject({ address: scopeWord, hostnames: z.array(dnsName).min(1).max(64) }), 2000)
  const whole = fieldSchema(mapped.block, field)
  const row = (whole instanceof z.ZodArray ? whole.element : whole) as z.ZodObject
  const shape = Object.fromEntries(
    Object.entries(mapped.parts).map(([theirs, ours]) => [theirs, row.shape[ours] ?? z.never()]),
  )
  return mapped.many ? blocks(z.strictObject(shape), 5000) : block(z.strictObject(shape))
}

export function fieldOf(fields: Definition['fields'], name: string): Field {
  const found = fields[name]
  if (found === undefined) throw new Error(`the table of the provider names the field ${name}, which is not there`)
  return found
}
