import { show } from '../../kinds/fields/explain.ts'
import { fieldProblem } from '../../kinds/fields/problem.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { nearest } from '../../lib/nearest.ts'
import { SECRET_VALUES } from '../../model/foreign-object.ts'
import { isFields } from '../manifest.ts'
import type { Serving } from './api.ts'
import { type TypeScope, typeOfExpression } from './expression-type.ts'
import { statusProblems, templateProblems, unusedIterators } from './graph-checks.ts'
import { inOrder } from './in-order.ts'
import { templateShape } from './known-shapes.ts'
import { kubernetesProblems, kubernetesShape } from './kubernetes-shapes.ts'
import { ANYTHING, type DocumentFields, type ProblemPath, shapeWord, TEXT, type ValueShape } from './shape.ts'
import { simpleSchema } from './simple-schema.ts'
import { expressionsIn, piecesOf } from './template.ts'

/** One kind of object that a graph makes for each instance. */
export interface GraphResource {
  readonly id: string
  readonly template: DocumentFields
  readonly path: ProblemPath
  readonly includeWhen: readonly string[]
  /** About `self`. */
  readonly readyWhen: readonly string[]
  readonly forEach: readonly { readonly name: string; readonly expression: string; readonly path: ProblemPath }[]
  /** Ids of resources whose fields it takes. */
  readonly uses: readonly string[]
  /** Expressions that need live objects, with the ids of those resources. */
  readonly late: ReadonlyMap<string, readonly string[]>
  /** Read only: the template names the object. */
  readonly external: boolean
}

/** A ResourceGraphDefinition of kro, read and checked. */
export interface Graph {
  readonly name: string
  readonly kind: string
  readonly apiVersion: string
  readonly spec: ValueShape
  readonly serving: Serving
  /** With expressions over the objects that were made. */
  readonly status: DocumentFields
  /** Sorted: a used resource comes before its users. */
  readonly resources: readonly GraphResource[]
}

export const METADATA: ValueShape = {
  type: 'object',
  properties: {
    name: TEXT,
    namespace: TEXT,
    labels: { type: 'object', additionalProperties: TEXT },
    annotations: { type: 'object', additionalProperties: TEXT },
  },
}

/** In a cluster an instance has a uid. In files it has none, so an expression that reads it is refused there. */
const INSTANCE_METADATA: ValueShape = { ...METADATA, properties: { ...METADATA.properties, uid: TEXT } }

/** Metadata fields that the API server writes into every object, and those that users set. */
const OBJECT_METADATA: ValueShape = {
  ...METADATA,
  properties: {
    ...METADATA.properties,
    uid: TEXT,
    generateName: TEXT,
    resourceVersion: TEXT,
    selfLink: TEXT,
    generation: { type: 'integer' },
    creationTimestamp: TEXT,
    deletionTimestamp: TEXT,
    deletionGracePeriodSeconds: { type: 'integer' },
    finalizers: { type: 'array', items: TEXT },
    ownerReferences: { type: 'array', items: ANYTHING },
    managedFields: { type: 'array', items: ANYTHING },
  },
}

const CONDITIONS: ValueShape = {
  type: 'array',
  items: { type: 'object', properties: { type: TEXT, status: TEXT, reason: TEXT, message: TEXT } },
}

/** The shape of `self` in `readyWhen` of an object that croft keeps. */
export const SELF: ValueShape = {
  type: 'object',
  properties: {
    kind: TEXT,
    metadata: { type: 'object', properties: { name: TEXT } },
    status: {
      type: 'object',
      properties: {
        state: TEXT,
        externalId: TEXT,
        host: TEXT,
        power: TEXT,
        uptimeSeconds: { type: 'number' },
        addresses: { type: 'array', items: TEXT },
        facts: { type: 'object', additionalProperties: TEXT },
        conditions: CONDITIONS,
        object: ANYTHING,
      },
    },
  },
}

function hasOthers(fields: DocumentFields, known: readonly string[]): boolean {
  return Object.keys(fields).some((key) => !known.includes(key))
}

const ENVELOPE = ['apiVersion', 'kind', 'metadata', 'spec', 'status']
const SPEC_FIELDS = ['schema', 'resources']
const RESOURCE_FIELDS = ['id', 'template', 'externalRef', 'readyWhen', 'includeWhen', 'forEach', 'dependsOn']

/** The group has a separate field, but users also write it in front of the version. */
function versionIn(apiVersion: string, group: unknown): { readonly version: string; readonly group: string } {
  const [version = '', ownGroup] = apiVersion.split('/').reverse()
  return { version, group: typeof group === 'string' ? group : (ownGroup ?? 'kro.run') }
}

/** Returns the kind that a graph defines, even if the rest of the graph has mistakes. */
export function kindOfGraph({
  spec,
}: DocumentFields): readonly { readonly apiVersion: string; readonly kind: string }[] {
  const schema = isFields(spec) && isFields(spec.schema) ? spec.schema : {}
  if (typeof schema.kind !== 'string' || typeof schema.apiVersion !== 'string') return []
  const { version, group } = versionIn(schema.apiVersion, schema.group)
  return [{ apiVersion: `${group}/${version}`, kind: schema.kind }]
}

/** Reads a graph. Types every expression before an instance exists; problems have the path of their field. */
export function readGraph(document: DocumentFields): {
  readonly graph?: Graph
  readonly problems: readonly FieldProblem[]
} {
  const value = speakable(document)
  const problems: FieldProblem[] = []
  /** Problems that do not prevent the use of the graph. */
  const warnings: FieldProblem[] = []
  const wrong = (path: ProblemPath, message: string, hint?: string) =>
    problems.push(fieldProblem('bad-graph', path, message, hint))
  const spec = isFields(value.spec) ? value.spec : {}
  // A misspelt field here would drop resources from every instance, as if a user had removed them.
  const slips = (fields: DocumentFields, known: readonly string[], path: ProblemPath) => {
    for (const key of Object.keys(fields)) {
      const meant = known.includes(key) ? undefined : nearest(key, known, 2)
      if (meant !== undefined) wrong([...path, key], `${key} is not a field here`, `did you mean ${meant}?`)
    }
  }
  slips(spec, SPEC_FIELDS, ['spec'])
  const metadata = isFields(value.metadata) ? value.metadata : {}
  const schema = isFields(spec.schema) ? spec.schema : undefined
  if (schema === undefined || typeof schema.kind !== 'string' || typeof schema.apiVersion !== 'string') {
    wrong(['spec', 'schema'], 'spec.schema with apiVersion and kind is missing: it says what instances look like')
    return { problems }
  }
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(schema.kind))
    wrong(['spec', 'schema', 'kind'], `${schema.kind} is no name of a kind; write one like WebApp`)
  const { version, group } = versionIn(schema.apiVersion, schema.group)
  if (!/^v\d/.test(version))
    wrong(
      ['spec', 'schema', 'apiVersion'],
      `${version} is no version; write one like v1alpha1, or with its group before it`,
    )
  const simple = simpleSchema(schema.spec, schema.types, ['spec', 'schema', 'spec'])
  problems.push(...simple.problems)
  // A graph may be empty; but one with resources at a wrong place is mistaken.
  const elsewhere = hasOthers(value, ENVELOPE) || hasOthers(spec, SPEC_FIELDS)
  if (spec.resources === undefined ? elsewhere : !Array.isArray(spec.resources))
    wrong(['spec'], 'spec.resources is not a list of resources')
  const listed: readonly unknown[] = Array.isArray(spec.resources) ? spec.resources : []
  const written = listed.flatMap((one, index) => {
    const path: ProblemPath = ['spec', 'resources', index]
    if (!isFields(one)) wrong(path, `${show(one)} is no resource; expected a block with id and template`)
    return isFields(one) ? [{ one, path, field: 'template' }] : []
  })
  const named = new Map<string, (typeof written)[number]>()
  for (const entry of written) {
    slips(entry.one, RESOURCE_FIELDS, entry.path)
    const { id } = entry.one
    if (typeof id !== 'string' || !/^[a-z][a-zA-Z0-9_]*$/.test(id))
      wrong([...entry.path, 'id'], `id is ${JSON.stringify(id)}; it must be a name like vm or joinToken`)
    else if (id === 'schema' || id === 'self' || id === 'each')
      wrong([...entry.path, 'id'], `${id} means something else in expressions`)
    else if (named.has(id)) wrong([...entry.path, 'id'], `two resources are called ${id}`)
    else if (isFields(entry.one.externalRef)) {
      problems.push(...externalProblems(entry.one, entry.path))
      named.set(id, { ...entry, one: { ...entry.one, template: entry.one.externalRef }, field: 'externalRef' })
    } else if (!isFields(entry.one.template)) wrong([...entry.path, 'template'], `${id} has no template`)
    else {
      const { template } = entry.one
      for (const check of [templateProblems, kubernetesProblems])
        for (const found of check(template, [...entry.path, 'template']))
          (found.severity === 'warning' ? warnings : problems).push(found)
      named.set(id, entry)
    }
  }
  problems.push(...statusProblems(schema.status, ['spec', 'schema', 'status']))
  if (problems.length > 0) return { problems: [...problems, ...warnings] }

  const serving = servingOf(schema)
  const schemaShape: ValueShape = {
    type: 'object',
    properties: { apiVersion: TEXT, kind: TEXT, metadata: instanceMetadata(serving), spec: simple.shape },
  }
  const shapes = new Map([...named].map(([id, { one }]) => [id, shapeOfResource(one)] as const))
  const outer: TypeScope = { schema: schemaShape, ...Object.fromEntries(shapes) }
  const objects = [...named].flatMap(([id, { one }]) => {
    const shape = objectShape(one)
    return shape === undefined ? [] : [[id, shape] as const]
  })
  /** The type by the fields that Kubernetes has. What it does not have is only a warning: a newer one may have it. */
  const closer = (expression: string, at: ProblemPath, scope: TypeScope, open: ValueShape): ValueShape => {
    const known = objects.filter(([name]) => Object.hasOwn(scope, name))
    if (known.length === 0) return open
    const found = typeOfExpression(expression, { ...scope, ...Object.fromEntries(known) })
    if (!('problem' in found)) return found.type
    warnings.push({ ...fieldProblem('bad-expression', at, `${expression}: ${found.problem}`), severity: 'warning' })
    return open
  }
  const resources: GraphResource[] = []
  const readyOf = new Map<string, readonly string[]>()
  for (const [id, { one, path, field: where }] of named) {
    const uses = new Set<string>()
    const late = new Map<string, readonly string[]>()
    /** Expressions that may have no value, and what each reads. */
    const optional = new Set<string>()
    const readsOf = new Map<string, readonly string[]>()
    const typed = (expression: string, at: ProblemPath, scope: TypeScope): ValueShape | undefined => {
      const found = typeOfExpression(expression, scope)
      if ('problem' in found) {
        problems.push(fieldProblem('bad-expression', at, `${expression}: ${found.problem}`))
        return undefined
      }
      if (found.mayBeMissing) optional.add(expression)
      readsOf.set(
        expression,
        found.reads.map(([name = '']) => name),
      )
      for (const [name = ''] of found.reads) {
        if (!named.has(name)) continue
        uses.add(name)
        if (name === id) problems.push(fieldProblem('bad-expression', at, `${expression}: ${id} names itself`))
      }
      const asked = found.reads.flatMap(([name = '', ...fields]) => {
        const entry = named.get(name)
        return entry !== undefined && isLate(entry.one, fields, expression) ? [name] : []
      })
      if (asked.length > 0) late.set(expression, [...new Set(asked)])
      return closer(expression, at, scope, found.type)
    }
    const { forEach, inside } = iterators(one.forEach, [...path, 'forEach'], outer, typed, problems)
    const conditions = expressionList(one.includeWhen, [...path, 'includeWhen'], problems)
    for (const { expression, at } of conditions) {
      const type = typed(expression, at, { schema: schemaShape, ...without(outer, id) })
      if (type?.type !== undefined && type.type !== 'boolean')
        problems.push(
          fieldProblem('bad-expression', at, `${expression} is ${shapeWord(type)}; it must be true or false`),
        )
    }
    const template = one.template as DocumentFields
    const { found, problems: uncut } = expressionsIn(template, [...path, where])
    problems.push(...uncut)
    for (const { expression, path: at, alone } of found) {
      const type = typed(expression, at, inside)
      if (type === undefined) continue
      if (!alone && (type.type === 'object' || type.type === 'array'))
        problems.push(
          fieldProblem('bad-expression', at, `${expression} is ${shapeWord(type)} and cannot be a part of a text`),
        )
      else if (!alone && optional.has(expression))
        problems.push(
          fieldProblem(
            'bad-expression',
            at,
            `${expression} may be missing and cannot be a part of a text`,
            'add .orValue("")',
          ),
        )
      const wanted = alone ? templateShape(template, at.slice(path.length + 1)) : undefined
      if (wanted !== undefined && type.type !== undefined && !wanted.includes(type.type))
        problems.push(
          fieldProblem(
            'wrong-type',
            at,
            `${expression} is ${shapeWord(type)}; ${String(at.at(-1))} must be ${wanted.map((word) => shapeWord({ type: word })).join(' or ')}`,
          ),
        )
    }
    problems.push(...unusedIterators(forEach, template, (expression) => readsOf.get(expression) ?? []))
    for (const [index, other] of (Array.isArray(one.dependsOn) ? one.dependsOn : []).entries()) {
      const name = typeof other === 'string' ? other.replaceAll('-', '_') : ''
      if (named.has(name) && name !== id) uses.add(name)
      else wrong([...path, 'dependsOn', index], `no other resource is called ${String(other)}`)
    }
    for (const { expression, at } of expressionList(one.readyWhen, [...path, 'readyWhen'], problems)) {
      const own = selfOf(one)
      const others = Object.fromEntries([...named].map(([name, { one: other }]) => [name, selfOf(other)]))
      const collection = Array.isArray(one.forEach)
      const typing = typeOfExpression(expression, { ...(collection ? without(others, id) : others), each: own })
      const bad = (message: string) => problems.push(fieldProblem('bad-expression', at, `${expression}${message}`))
      if ('problem' in typing) {
        bad(`: ${typing.problem}`)
        continue
      }
      // In a list, readyWhen applies to each entry.
      if (!typing.reads.some(([name = '']) => name === 'each' || Array.isArray(named.get(name)?.one.forEach)))
        closer(expression, at, others, typing.type)
      const about = [...new Set(typing.reads.map(([name = '']) => name))]
      const [subject = id] = about
      if (typing.type.type !== undefined && typing.type.type !== 'boolean')
        bad(` is ${shapeWord(typing.type)}; it must be true or false`)
      else if (about.length > 1) bad(` is about ${about.join(' and ')}; it must be about one resource`)
      else {
        // A reference to another resource here is a wait for it.
        const who = subject === 'each' ? id : subject
        if (who !== id) uses.add(who)
        readyOf.set(who, [...(readyOf.get(who) ?? []), typing.renamed(subject, 'self')])
      }
    }
    resources.push({
      id,
      template,
      path: [...path, where],
      late,
      external: where === 'externalRef',
      includeWhen: conditions.map(({ expression }) => expression),
      readyWhen: [],
      forEach,
      uses: [...uses].filter((name) => name !== id),
    })
  }
  for (const { expression, path: at } of expressionsIn(schema.status, ['spec', 'schema', 'status']).found) {
    const found = typeOfExpression(expression, outer)
    if ('problem' in found) problems.push(fieldProblem('bad-expression', at, `${expression}: ${found.problem}`))
    else if (found.reads.length === 0)
      problems.push(fieldProblem('bad-expression', at, `${expression} says nothing of a resource or of the schema`))
    else closer(expression, at, outer, found.type)
  }
  const { ordered, circle } = inOrder(
    resources.map((one) => ({ ...one, readyWhen: readyOf.get(one.id) ?? [] })),
    ({ id }) => id,
  )
  if (circle.length > 0)
    wrong(['spec', 'resources'], `${circle.join(', ')} take values from each other: none of them could be first`)
  if (problems.length > 0) return { problems: [...problems, ...warnings] }
  const name = typeof metadata.name === 'string' ? metadata.name : schema.kind
  return {
    graph: {
      name,
      kind: schema.kind,
      apiVersion: `${group}/${version}`,
      spec: simple.shape,
      serving,
      status: isFields(schema.status) ? schema.status : {},
      resources: ordered,
    },
    problems: warnings,
  }
}

/** Returns a resource's shape from the fields of Kubernetes, to refuse others. Undefined: the kind is not known. */
function objectShape({ template, externalRef, forEach }: DocumentFields): ValueShape | undefined {
  const named = isFields(externalRef) ? externalRef : template
  const known = isFields(named) ? kubernetesShape(named) : undefined
  if (known === undefined) return undefined
  const single: ValueShape = {
    type: 'object',
    properties: { apiVersion: TEXT, kind: TEXT, metadata: OBJECT_METADATA, ...known.properties },
  }
  return Array.isArray(forEach) ? { type: 'array', items: single } : single
}

function instanceMetadata({ scope }: Serving): ValueShape {
  const { namespace: _, ...others } = INSTANCE_METADATA.properties ?? {}
  return scope === 'Cluster' ? { ...INSTANCE_METADATA, properties: others } : INSTANCE_METADATA
}

function servingOf(schema: DocumentFields): Serving {
  const texts = (value: unknown) => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [])
  return {
    plural: pluralOf(String(schema.kind).toLowerCase()),
    scope: schema.scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    stored: true,
    shortNames: texts(schema.shortNames),
    categories: texts(schema.categories),
  }
}

/** Returns the English plural: kro names CustomResourceDefinitions by it. */
function pluralOf(word: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`
}

/** CEL takes a dash for a minus. An id with dashes has underscores here, and so has every expression that names it. */
function speakable(document: DocumentFields): DocumentFields {
  const spec = isFields(document.spec) ? document.spec : {}
  const ids = (Array.isArray(spec.resources) ? spec.resources : []).flatMap((one: unknown) =>
    isFields(one) && typeof one.id === 'string' && /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/.test(one.id) ? [one.id] : [],
  )
  if (ids.length === 0) return document
  const names = new RegExp(`(?<![\\w.-])(?:${ids.join('|')})(?![\\w-])`, 'g')
  const spoken = (value: unknown, field?: string): unknown => {
    if (typeof value === 'string')
      return value.includes('${') || field === 'id' ? value.replaceAll(names, (id) => id.replaceAll('-', '_')) : value
    if (Array.isArray(value)) return value.map((one) => spoken(one))
    if (!isFields(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoken(one, name)]))
  }
  const { resources, schema } = spec
  return { ...document, spec: { ...spec, schema: spoken(schema), resources: spoken(resources) } }
}

/** Returns the shape of `self` in `readyWhen` of a resource. */
function selfOf({ template }: DocumentFields): ValueShape {
  return isFields(template) && isCroftTemplate(template) ? SELF : ANYTHING
}

export function isCroftTemplate({ apiVersion }: DocumentFields): boolean {
  return typeof apiVersion === 'string' && /(?:^|\.)(?:croft\.dev|crossplane\.io)\//.test(apiVersion)
}

/** Returns a resource's shape for others: its template and status, and any field if croft does not know its kind. */
function shapeOfResource(one: DocumentFields): ValueShape {
  if (isFields(one.externalRef)) return ANYTHING
  const { template } = one
  const whole = literalShape(template)
  const ours = isFields(template) && isCroftTemplate(template)
  const open = ours ? {} : { additionalProperties: true as const }
  const spec = whole.properties?.spec ?? ANYTHING
  const properties = {
    ...whole.properties,
    metadata: ours ? METADATA : OBJECT_METADATA,
    status: ours ? statusShape(template) : ANYTHING,
    spec: spec.type === 'object' ? { ...spec, ...open } : spec,
  }
  const single: ValueShape = { ...whole, properties, ...open }
  return Array.isArray(one.forEach) ? { type: 'array', items: single } : single
}

/** Returns the status that croft writes. A provider's program may also write `atProvider` for its kinds. */
export function statusShape({ apiVersion }: DocumentFields): ValueShape {
  const own = SELF.properties?.status ?? ANYTHING
  if (String(apiVersion).startsWith('croft.dev/')) return own
  return { ...own, properties: { ...own.properties, atProvider: ANYTHING } }
}

/** Reports whether an expression reads a field outside the template, which only the live object has. */
function isLate(
  { template, externalRef, forEach }: DocumentFields,
  fields: readonly string[],
  expression: string,
): boolean {
  if (isFields(externalRef)) return true
  // Of a list, the fields an expression reads are not known, so search its text for `status`.
  if (Array.isArray(forEach) || fields.length === 0) return /\bstatus\b/.test(expression)
  if (fields[0] === 'status') return true
  if (isFields(template) && isCroftTemplate(template)) return false
  // The instance's namespace is the default.
  if (fields[0] === 'metadata' && fields[1] === 'namespace') return false
  let at: unknown = template
  for (const field of fields) {
    if (typeof at === 'string') return false
    if (!isFields(at) || !Object.hasOwn(at, field)) return true
    at = at[field]
  }
  return false
}

/** Checks a reference to an existing object. */
function externalProblems({ externalRef, forEach }: DocumentFields, path: ProblemPath): readonly FieldProblem[] {
  const at = [...path, 'externalRef']
  const { apiVersion, kind, metadata } = isFields(externalRef) ? externalRef : {}
  const { name, selector } = isFields(metadata) ? metadata : {}
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    return [fieldProblem('bad-graph', at, 'externalRef needs apiVersion and kind')]
  if (apiVersion === 'v1' && kind === 'Secret')
    return [
      fieldProblem(
        'bad-graph',
        [...at, 'kind'],
        SECRET_VALUES,
        'name the Secret where it is used (secretRef, envFrom) instead of taking its values',
      ),
    ]
  if (selector !== undefined)
    return [
      fieldProblem(
        'bad-graph',
        [...at, 'metadata', 'selector'],
        'a selector is not supported: croft reads one object by its name',
      ),
    ]
  if (Array.isArray(forEach))
    return [fieldProblem('bad-graph', [...path, 'forEach'], 'forEach is not supported with externalRef')]
  return typeof name === 'string'
    ? []
    : [fieldProblem('bad-graph', [...at, 'metadata', 'name'], 'externalRef needs metadata.name')]
}

function literalShape(value: unknown): ValueShape {
  if (Array.isArray(value)) return { type: 'array', items: ANYTHING }
  if (!isFields(value)) {
    if (typeof value === 'string') return value.includes('${') ? ANYTHING : TEXT
    return typeof value === 'boolean' ? { type: 'boolean' } : typeof value === 'number' ? { type: 'number' } : ANYTHING
  }
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, literalShape(inner)])),
  }
}

type TypeExpression = (expression: string, at: ProblemPath, scope: TypeScope) => ValueShape | undefined

/** `forEach: [{host: ${schema.spec.hosts}}]`: names that stand for one entry of a list each. */
function iterators(
  written: unknown,
  path: ProblemPath,
  outer: TypeScope,
  typed: TypeExpression,
  problems: FieldProblem[],
) {
  const forEach: { readonly name: string; readonly expression: string; readonly path: ProblemPath }[] = []
  let inside = outer
  for (const [index, entry] of (Array.isArray(written) ? written : []).entries()) {
    for (const [name, text] of Object.entries(isFields(entry) ? entry : {})) {
      const at = [...path, index, name]
      const pieces = typeof text === 'string' ? piecesOf(text) : []
      const [only] = typeof pieces === 'string' ? [] : pieces
      if (pieces.length !== 1 || only === undefined || !('expression' in only)) {
        problems.push(fieldProblem('bad-expression', at, `${name} must be one expression: \${schema.spec.…}`))
        continue
      }
      const type = typed(only.expression, at, outer)
      if (type?.type !== undefined && type.type !== 'array')
        problems.push(fieldProblem('bad-expression', at, `${only.expression} is ${shapeWord(type)}; it must be a list`))
      forEach.push({ name, expression: only.expression, path: at })
      inside = { ...inside, [name]: type?.items ?? ANYTHING }
    }
  }
  return { forEach, inside }
}

function expressionList(written: unknown, path: ProblemPath, problems: FieldProblem[]) {
  return (Array.isArray(written) ? written : []).flatMap((text: unknown, index) => {
    const at = [...path, index]
    const pieces = typeof text === 'string' ? piecesOf(text) : []
    const [only] = typeof pieces === 'string' ? [] : pieces
    if (pieces.length === 1 && only !== undefined && 'expression' in only) return [{ expression: only.expression, at }]
    problems.push(fieldProblem('bad-expression', at, `it must be one expression: \${…}`))
    return []
  })
}

function without(scope: TypeScope, name: string): TypeScope {
  return Object.fromEntries(Object.entries(scope).filter(([one]) => one !== name))
}
