import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steadyObjects } from './steady-objects.ts'

const secret = (password: string) => ({ kind: 'Secret', metadata: { name: 'admin' }, data: { password } })
const plain = { kind: 'ConfigMap', metadata: { name: 'settings' } }

test('what comes out the same is kept; what does not is refused by name and not by value', () => {
  assert.deepEqual(steadyObjects({ is: 'objects', objects: [plain] }, 'shop'), { objects: [plain] })
  const rolled = steadyObjects(
    { is: 'objects', objects: [plain, secret('abc')], again: [plain, secret('def')] },
    'shop',
  )
  assert.ok('problem' in rolled)
  assert.match(rolled.problem, /the chart shop makes something else each time it is rendered: Secret admin$/)
  assert.doesNotMatch(JSON.stringify(rolled), /abc|def/)
})

test('without Helm, or when it fails, the next step is said', () => {
  const none = steadyObjects({ is: 'no-helm' }, 'shop')
  assert.match('hint' in none ? (none.hint ?? '') : '', /CROFT_HELM/)
  const failed = steadyObjects({ is: 'failed', message: 'helm template: boom' }, 'shop')
  assert.match('problem' in failed ? failed.problem : '', /the chart shop could not be rendered: helm template: boom/)
})
