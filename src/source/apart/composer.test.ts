import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterAnswer, ExpandQuestion } from '../compose/in-cluster.ts'
import { createCagedComposer } from './composer.ts'

/** Each level makes the text of an instance thirty times as long. */
const grown = (levels: number) =>
  Array.from({ length: levels }).reduce<string>((text) => `${text}.replace('a', schema.spec.text)`, 'schema.spec.text')

/** The expression as definitions write it. */
const cel = (text: string) => `\${${text}}`

const graph = (name: string, value: string) => ({
  apiVersion: 'kro.run/v1alpha1',
  kind: 'ResourceGraphDefinition',
  metadata: { name },
  spec: {
    schema: {
      apiVersion: 'v1alpha1',
      kind: 'Note',
      spec: { text: 'string | default=a' },
      status: { said: cel('map.metadata.name') },
    },
    resources: [
      {
        id: 'map',
        template: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: cel('schema.metadata.name') },
          data: { text: value },
        },
      },
    ],
  },
})

const note = (name: string, text = 'a') => ({
  apiVersion: 'kro.run/v1alpha1',
  kind: 'Note',
  metadata: { name, annotations: { 'croft.dev/cluster': 'home' } },
  spec: { text },
})
const expand = (name: string, text?: string): ExpandQuestion => ({
  ask: 'expand',
  instance: note(name, text),
  home: 'croft-system',
  children: new Map(),
  externals: new Map(),
})

const outcome = (answer: ClusterAnswer) =>
  answer.answer === 'none'
    ? answer.why
    : answer.answer === 'expanded'
      ? [...answer.made.map(({ id }) => id), ...answer.wrong].join()
      : ''

test('[S-33] an instance that grows without end is ended, and those of others are composed', async () => {
  const composer = createCagedComposer({ clock: systemClock, deadlineMs: 60_000, heapMb: 48 })
  const definitions = [graph('note', `\${${grown(7)}}`)]
  let [longest, last, over] = [0, performance.now(), false]
  const turn = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!over) setTimeout(turn, 5)
  }
  turn()
  const answers = await Promise.all([
    composer.ask(definitions, expand('one')),
    composer.ask(definitions, expand('bad', 'a'.repeat(30))),
    composer.ask(definitions, expand('two')),
  ])
  over = true
  assert.deepEqual([outcome(answers[0]), outcome(answers[2])], ['map', 'map'])
  assert.match(outcome(answers[1]), /^composing it takes more than 48 MB; croft tries again in 1 min$/)
  assert.ok(longest < 500, `this thread answered nobody for ${longest} ms`)
})

test('[S-33] an instance that takes too long is ended, backs off, and is composed again', async () => {
  let nowMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs }
  const composer = createCagedComposer({ clock, deadlineMs: 200 })
  const slow = `\${string(lists.range(200).filter(x, ${grown(2)}.upperAscii().size() > x).size())}`
  const definitions = [graph('note', slow)]
  const bad = expand('bad', 'a'.repeat(30))
  assert.match(outcome(await composer.ask(definitions, bad)), /^composing it takes longer than 0\.2 s; .* 1 min$/)
  const begunMs = performance.now()
  assert.match(outcome(await composer.ask(definitions, bad)), /1 min$/)
  assert.ok(performance.now() - begunMs < 100, 'it was set aside')
  nowMs = LIMITS.endedExpressionMs + 1
  assert.match(outcome(await composer.ask(definitions, bad)), /2 min$/)
  assert.equal(outcome(await composer.ask(definitions, expand('one'))), 'map')
})

test('definitions are described, and a status shows what was made', async () => {
  const composer = createCagedComposer({ clock: systemClock })
  const definitions = [graph('note', cel('schema.spec.text')), graph('broken', cel('schema.spec.').slice(0, -1))]
  const { apis, problems } = await composer.define(definitions)
  assert.deepEqual(
    apis.map(({ kind, definition }) => [kind, definition]),
    [['Note', 'ResourceGraphDefinition/note']],
  )
  assert.deepEqual([...problems.keys()], ['ResourceGraphDefinition/broken'])
  const made = new Map([['map', [{ metadata: { name: 'one' } }]]])
  const said = await composer.ask(definitions, { ask: 'status', instance: note('one'), made })
  assert.deepEqual(said, { answer: 'status', status: { said: 'one' } })
  const gone = { ...note('x'), kind: 'Other' }
  assert.equal(outcome(await composer.ask(definitions, { ...expand('x'), instance: gone })), 'its definition is gone')
})
