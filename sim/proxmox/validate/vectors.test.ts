import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { checkParams } from './check.ts'
import { findOperation, type Operation } from './operations.ts'

const VECTORS = new URL('../../../../shared/pve/validation-vectors.jsonl.gz', import.meta.url)
const DEMANDED = 0.99

type Vector = [place: string, parameter: string, value: string, verdict: Record<string, string> | null]

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
  if (!existsSync(VECTORS)) {
    assert.ok(process.env.CI === undefined, 'the validation vectors are missing')
    context.skip('../shared is not here')
    return
  }
  const vectors = gunzipSync(readFileSync(VECTORS))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line): Vector => JSON.parse(line))
  const different: string[] = []
  for (const [place, parameter, value, verdict] of vectors) {
    const checked = checkParams(operationOf(place), { [parameter]: value })
    const got = 'errors' in checked ? checked.errors[parameter] : undefined
    const wanted = verdict?.[parameter]
    if (inOrder(got) !== inOrder(wanted)) {
      different.push(JSON.stringify([place, parameter, value.slice(0, 60), wanted ?? null, got ?? null]))
    }
  }
  const same = vectors.length - different.length
  context.diagnostic(
    `${same} of ${vectors.length} as the real validator (${((100 * same) / vectors.length).toFixed(2)} %)`,
  )
  if (process.env.SHOW_DIFFERENCES !== undefined) console.log(different.join('\n'))
  assert.equal(vectors.length, 49_293)
  // The vectors' validator let every schedule pass; the daemon itself did not (see the recordings), and so do we.
  const others = different.filter((line) => JSON.parse(line)[1] !== 'schedule')
  assert.deepEqual(others, [])
  assert.ok(same >= DEMANDED * vectors.length, `only ${same} alike, first: ${different.slice(0, 5).join('\n')}`)
})
