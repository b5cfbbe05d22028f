import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RECORDINGS, recordedExchanges } from '../../../test/evidence/read.ts'
import type { Recorded } from '../../recordings/testing/replay.ts'
import { checkParams, withLists } from './check.ts'
import { findOperation } from './operations.ts'

/** Messages of the parameter check, not of the method itself ("interface already exists"). */
const FROM_THE_CHECK =
  /^(?:invalid format - |type check \(|value (?:does not match the regex pattern$|may only be|must be at least|must have a|'.*' does not have a value in)|property is (?:missing and|not defined)|missing property required by)/s

/** The parameters of a request, or undefined where the recording left the body out (uploads). */
function paramsOf(request: Recorded): Record<string, unknown> | undefined {
  const query = new URL(request.path, 'https://localhost').searchParams
  const body = request.req_body ?? ''
  if (/^<\d+ bytes>$/.test(body)) return undefined
  if (request.req_ctype?.startsWith('application/json')) {
    try {
      return { ...fromForm(query), ...JSON.parse(body) }
    } catch {
      return undefined
    }
  }
  return { ...fromForm(query), ...fromForm(new URLSearchParams(body)) }
}

function fromForm(form: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(form.keys())].map((key) => {
      const all = form.getAll(key)
      return [key, all.length === 1 ? all[0] : all]
    }),
  )
}

function expectedOf(answer: Recorded): Record<string, string> {
  if (answer.status !== 400) return {}
  const errors: Record<string, string> = JSON.parse(answer.body).errors ?? {}
  return Object.fromEntries(Object.entries(errors).filter(([, text]) => FROM_THE_CHECK.test(text)))
}

/** The permission check reads user names itself and answers 500 when it cannot, before parameters are looked at. */
function saidBefore(answer: Recorded, got: Readonly<Record<string, string>>): boolean {
  if (answer.status !== 500 || got.userid === undefined) return false
  return `invalid format - ${JSON.parse(answer.body).message}` === got.userid
}

/** The daemon lists what is wrong in random order. */
function inOrder(errors: Readonly<Record<string, string>>): string {
  const entries = Object.entries(errors).map(([name, text]) => JSON.stringify([name, text.split('\n').toSorted()]))
  return entries.toSorted().join()
}

test('recorded requests are taken or refused in the same words', (context) => {
  const different: string[] = []
  let refused = 0
  let taken = 0
  for (const request of RECORDINGS.flatMap(recordedExchanges)) {
    // A missing permission and an unknown path are answered before parameters are looked at.
    if (![200, 400, 500].includes(request.status) || !request.path.startsWith('/api2/json/') || request.body === '')
      continue
    const path = decodeURIComponent(new URL(request.path, 'https://localhost').pathname.slice('/api2/json'.length))
    const found = findOperation(request.method, path)
    const params = paramsOf(request)
    if (!found || params === undefined) continue
    const all = withLists(found.operation, { ...params, ...found.pathParams })
    const checked = checkParams(found.operation, all, { cpuModels: new Set(['my1']) })
    const got = 'errors' in checked ? checked.errors : {}
    if (saidBefore(request, got)) continue
    const wanted = expectedOf(request)
    if (inOrder(got) !== inOrder(wanted)) {
      const what = `${request.label} ${request.status} ${request.method} ${path} ${request.req_body?.slice(0, 120)}`
      different.push(`${what}\n  wanted ${JSON.stringify(wanted)}\n  got    ${JSON.stringify(got)}`)
    }
    if (Object.keys(wanted).length > 0) refused += 1
    else taken += 1
  }
  context.diagnostic(`${refused} refused and ${taken} taken requests, ${different.length} judged otherwise`)
  assert.ok(refused > 200 && taken > 2000)
  assert.deepEqual(different, [])
})
