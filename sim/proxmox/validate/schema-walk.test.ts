import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvidenceLines } from '../../../test/evidence/read.ts'
import { checkParams, findOperation, type Operation } from './index.ts'

/** A parameter as the schema of the real API has it. */
interface Parameter {
  readonly type?: string
  readonly optional?: number | string
  readonly enum?: readonly string[] | null
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string | object
  readonly 'instance-types'?: unknown
  readonly 'type-property'?: unknown
  readonly oneOf?: unknown
}

interface Written {
  readonly method: string
  readonly path: string
  readonly allowtoken?: number
  readonly protected?: number
  readonly proxyto?: string | null
  readonly parameters?: {
    readonly additionalProperties?: number
    readonly properties?: Readonly<Record<string, Parameter>>
  }
}

/** No format takes this; a list of any strings is none. */
const NONSENSE = '\u0001 ~!'

/** Values that the schema refuses, and values that it takes. */
function samples(parameter: Parameter): { readonly wrong: readonly string[]; readonly right: readonly string[] } {
  const { type, minimum, maximum, minLength, maxLength, pattern, format } = parameter
  const wrong: string[] = []
  const right: string[] = [...(type === 'array' ? [] : (parameter.enum ?? []))]
  if (type === 'integer') wrong.push('abc', '1.5')
  if (type === 'number') wrong.push('abc')
  if (type === 'boolean') {
    wrong.push('yes')
    right.push('0', '1')
  }
  if (minimum !== undefined) wrong.push(String(minimum - 1))
  if (maximum !== undefined) wrong.push(String(maximum + 1))
  if (type === 'integer') right.push(...[minimum, maximum].filter((limit) => limit !== undefined).map(String))
  if (parameter.enum != null) wrong.push('bogus-x')
  if (maxLength !== undefined) wrong.push('a'.repeat(maxLength + 1))
  if (minLength !== undefined && minLength > 0) wrong.push('a'.repeat(minLength - 1))
  if (pattern !== undefined || (typeof format === 'string' && format !== 'string-list')) wrong.push(NONSENSE)
  if (typeof format === 'object') wrong.push('nosuch-key=1')
  return { wrong, right }
}

function errorsOf(operation: Operation, params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const checked = checkParams(operation, params)
  return 'errors' in checked ? checked.errors : {}
}

function differences(written: Written, operation: Operation): readonly string[] {
  const found: string[] = []
  if ((written.allowtoken === 1) !== operation.tokenAllowed) found.push('whether a token may call it')
  if ((written.protected === 1) !== operation.privileged) found.push('which daemon serves it')
  if ((written.proxyto ?? undefined) !== (operation.proxyTo ?? undefined)) found.push('which node serves it')
  if (
    written.parameters?.additionalProperties === 0 &&
    errorsOf(operation, { 'no-such-thing': '1' })['no-such-thing'] === undefined
  )
    found.push('takes an unknown parameter')
  const missed = errorsOf(operation, {})
  for (const [listed, parameter] of Object.entries(written.parameters?.properties ?? {})) {
    const name = listed.replace('[n]', '0')
    const needed = Number(parameter.optional ?? 0) !== 1 && !listed.endsWith('[n]')
    if (needed !== (missed[name] !== undefined)) found.push(`${name}: whether it is needed`)
    // What goes with certain types only has a shape for each of them.
    if (parameter['instance-types'] ?? parameter['type-property'] ?? parameter.oneOf) continue
    const { wrong, right } = samples(parameter)
    for (const value of wrong)
      if (errorsOf(operation, { [name]: value })[name] === undefined)
        found.push(`${name}: takes '${value.slice(0, 40)}'`)
    for (const value of right) {
      const error = errorsOf(operation, { [name]: value })[name]
      if (error !== undefined) found.push(`${name}: refuses '${value}': ${error}`)
    }
  }
  return found
}

test('[T-08] every parameter of every operation is judged by the limits of the real schema', () => {
  const found: string[] = []
  let judged = 0
  for (const written of readEvidenceLines<Written>('proxmox/api-schema-9.2.jsonl')) {
    const operation = findOperation(written.method, written.path)?.operation
    assert.ok(operation !== undefined, `${written.method} ${written.path}`)
    judged += Object.keys(written.parameters?.properties ?? {}).length
    found.push(...differences(written, operation).map((what) => `${written.method} ${written.path}: ${what}`))
  }
  assert.ok(judged > 3_000, `${judged} parameters`)
  assert.deepEqual(found, [])
})
