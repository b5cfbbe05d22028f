import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slipIn } from './slips.ts'

const APIS = [{ apiVersion: 'home.lab/v1', kind: 'Lan' }]
const READERS = [{ group: 'kro.run', kinds: ['ResourceGraphDefinition'] }]

const CASES: readonly (readonly [string, string, RegExp | undefined])[] = [
  ['home.lab/v1', 'Lan', undefined],
  ['hmoe.lab/v1', 'Lan', /^apiVersion Lan is defined in home\.lab\/v1, not in hmoe\.lab\/v1 \(correct apiVersion\)$/],
  ['', 'Lan', /^apiVersion Lan is defined in home\.lab\/v1/],
  ['home.lab/v1', 'Lann', /^kind nothing here defines Lann of home\.lab\/v1 \(did you mean Lan\?\)$/],
  ['home.lab/v1', '', /^kind nothing here defines an object without a kind/],
  ['kro.rnu/v1alpha1', 'ResourceGraphDefinition', /^apiVersion .* is a kind of kro\.run, not of kro\.rnu/],
  ['kro.runv1alpha1', 'ResourceGraphDefinition', /^apiVersion /],
  ['kro.run/v1alpha1', '', /^kind kind is missing/],
  ['other.org/v1', 'Lan', undefined],
  ['home.lab/v1', 'Wireguard', undefined],
  ['apps/v1', 'Deployment', undefined],
]

for (const [apiVersion, kind, expected] of CASES)
  test(`${apiVersion} ${kind}`, () => {
    const found = slipIn({ apiVersion, kind }, APIS, READERS)
    if (expected === undefined) assert.equal(found, undefined)
    else assert.match(found === undefined ? '' : `${found.path.join('.')} ${found.message} (${found.hint})`, expected)
  })
