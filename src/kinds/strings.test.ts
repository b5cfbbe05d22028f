import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { unkeptFields } from './crossplane/vm-unkept.ts'
import { KINDS } from './registry.ts'
import { fileContents, freeText } from './settings/field-schema.ts'

/** Every schema of a text that a kind can hold, with the path to it. */
function textsOf(schema: z.core.$ZodType, path: string): readonly (readonly [string, z.ZodType])[] {
  const def = schema._zod.def as unknown as Record<string, unknown> & { type: string }
  switch (def.type) {
    case 'string':
      return [[path, schema as z.ZodType]]
    case 'object':
      return Object.entries((schema as z.ZodObject).shape).flatMap(([name, inner]) => textsOf(inner, `${path}.${name}`))
    case 'array':
      return textsOf(def.element as z.core.$ZodType, `${path}[]`)
    case 'record':
      return [
        ...textsOf(def.keyType as z.core.$ZodType, `${path}{key}`),
        ...textsOf(def.valueType as z.core.$ZodType, `${path}{}`),
      ]
    case 'union':
      return (def.options as readonly z.core.$ZodType[]).flatMap((option) => textsOf(option, path))
    case 'pipe':
      return [def.in, def.out].flatMap((inner) => textsOf(inner as z.core.$ZodType, path))
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
      return textsOf(def.innerType as z.core.$ZodType, path)
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
    // An object of Kubernetes: it goes to an API as JSON, and what names it is checked when it is expanded.
    case 'unknown':
    case 'transform':
      return []
    default:
      throw new Error(`${path}: a ${def.type} is not looked into`)
  }
}

const ATTACKS = [
  '$(touch /tmp/p)',
  '`id`',
  'a;reboot',
  'a\nb',
  'a\rb',
  '--flag',
  '-x',
  'a\0b',
  'a b\tc',
  'a|b',
  'a&&b',
  'a>b',
  "a'b",
  'a"b',
  'a\\b',
  'a,b=c',
  '../../etc/passwd',
  'local:../x',
  '$HOME',
  'a\u001b[31m',
  'a\u202eb',
  'a\n',
]
/** Text for people, and what is read but sent nowhere. */
const FREE =
  /\.(?:description|reason|providerConfigRef\.kind|providerRef\.kind|configRef\.kind|metadata\.type|passwordSecretRef\.key|pathInDatastore)$|\.credentials\.|publishConnectionDetailsTo\.metadata\./
const UNKEPT = new RegExp(`Provider\\.(?:${Object.keys(unkeptFields).join('|')})(?:[.[]|$)`)

const texts = KINDS.flatMap((kind) => textsOf(kind.schema, kind.kind))
const isFree = (path: string, schema: z.ZodType) => FREE.test(path) || freeText.has(schema)
/** Legitimate special characters of a field: a CPU flag begins with a sign, options of a mount stand between commas. */
const ORDINARY: Readonly<Record<string, RegExp>> = {
  '-x': /\.cpu\.flags\[\]$/,
  'a,b=c': /^HostConfig\.(?:kernel\.(?:args|remove)\[\]|mounts\[\]\.options)$/,
}

test('[S-01] no text that reaches a host can carry a shell, a flag, a path, a line end or a property', () => {
  const reaching = texts.filter(
    ([path, schema]) => !isFree(path, schema) && !fileContents.has(schema) && !UNKEPT.test(path),
  )
  assert.ok(reaching.length > 60, String(reaching.length))
  const accepted = reaching.flatMap(([path, schema]) =>
    ATTACKS.filter((attack) => ORDINARY[attack]?.test(path) !== true && schema.safeParse(attack).success).map(
      (attack) => `${path} takes ${JSON.stringify(attack)}`,
    ),
  )
  assert.deepEqual(accepted, [])
})

test('[S-01] free text holds no control characters and is bounded', () => {
  const free = texts.filter(
    ([path, schema]) =>
      isFree(path, schema) && !/publishConnectionDetailsTo\.metadata\.(?:annotations|labels)/.test(path),
  )
  assert.ok(free.length > 5)
  for (const [path, schema] of free) {
    for (const attack of ['a\0b', 'a\u001b[31m', 'a\rb', 'a\u202eb'])
      assert.ok(!schema.safeParse(attack).success, `${path} takes ${JSON.stringify(attack)}`)
    assert.ok(!schema.safeParse('x'.repeat(100_000)).success, path)
  }
})

test('[S-01] the contents of a file are text and are bounded', () => {
  const contents = texts.filter(([, schema]) => fileContents.has(schema))
  assert.ok(contents.length > 4)
  for (const [path, schema] of contents) {
    for (const attack of ['a\0b', '\ud800']) assert.ok(!schema.safeParse(attack).success, path)
    assert.ok(!schema.safeParse('x'.repeat(300_000)).success, path)
  }
})

test('tags and descriptions cannot forge the marks by which croft knows its own', () => {
  const machine = KINDS.find(({ kind }) => kind === 'Machine')
  const spec = { host: 'a', cpu: { cores: 1 }, memory: '1Gi' }
  const ok = (extra: object) => machine?.schema.safeParse({ ...spec, ...extra }).success
  assert.equal(ok({ tags: ['web'], description: 'croft makes it\nnot: croft' }), true)
  for (const tag of ['croft', 'Croft', 'croft-0123456789abcdef']) assert.equal(ok({ tags: [tag] }), false, tag)
  assert.equal(ok({ description: 'x\ncroft: owner=Machine/y uid=0123456789abcdef' }), false)
})
