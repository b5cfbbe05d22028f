import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvidenceLines } from '../../../test/evidence/read.ts'
import { checkParams } from './check.ts'
import { findOperation, type Operation } from './operations.ts'

const DEMANDED = 0.99

/** All values of a parameter that the real validator judged alike. */
type Vectors = readonly [place: string, parameter: string, verdict: string | null, values: readonly string[]]

/** The daemon lists what is wrong with a property string in random order. */
function inOrder(text: string | undefined): string | undefined {
  return text?.split('\n').toSorted().join('\n')
}

function operationOf(place: string): Operation {
  const [method = '', path = ''] = place.split(' ')
  const found = findOperation(method, path)
  assert.ok(found, `no operation ${place}`)
  return found.operation
}

test('single parameters are judged as the real validator judged them', (context) => {
  const different: string[] = []
  let judged = 0
  for (const [place, parameter, verdict, values] of readEvidenceLines<Vectors>('proxmox/validation.jsonl')) {
    const operation = operationOf(place)
    const wanted = verdict ?? undefined
    for (const value of values) {
      judged++
      const checked = checkParams(operation, { [parameter]: value })
      const got = 'errors' in checked ? checked.errors[parameter] : undefined
      if (inOrder(got) !== inOrder(wanted))
        different.push(JSON.stringify([place, parameter, value.slice(0, 60), verdict, got ?? null]))
    }
  }
  const same = judged - different.length
  context.diagnostic(`${same} of ${judged} as the real validator (${((100 * same) / judged).toFixed(2)} %)`)
  if (process.env.SHOW_DIFFERENCES !== undefined) console.log(different.join('\n'))
  assert.equal(judged, 49_293)
  // The vectors' validator let every schedule pass; the daemon itself did not (see the recordings), and so do we.
  const others = different.filter((line) => JSON.parse(line)[1] !== 'schedule')
  assert.deepEqual(others, [])
  assert.ok(same >= DEMANDED * judged, `only ${same} alike, first: ${different.slice(0, 5).join('\n')}`)
})
