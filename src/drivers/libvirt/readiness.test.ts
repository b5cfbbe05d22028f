import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource, PowerState } from '../../model/resource.ts'
import type { VmSpec } from '../../model/vm.ts'
import { vmReadiness } from './rules.ts'

const cases: readonly (readonly [declared: VmSpec['power'], is: PowerState, reason: string, ready: boolean])[] = [
  ['running', 'running', 'Running', true],
  ['running', 'stopped', 'NotRunning', false],
  ['running', 'paused', 'NotRunning', false],
  ['stopped', 'stopped', 'Stopped', true],
  ['stopped', 'running', 'NotStopped', false],
  [undefined, 'stopped', 'Present', true],
  [undefined, 'paused', 'NotRunning', false],
  [undefined, 'running', 'Running', true],
]
for (const [declared, is, reason, ready] of cases)
  test(`power ${declared ?? 'not declared'}, ${is}: ${reason}`, () => {
    const vm: VmSpec = {
      host: 'box',
      name: 'web',
      disks: [],
      nics: [],
      ...(declared === undefined ? {} : { power: declared }),
    }
    const observed: ObservedResource = { connection: 'box', type: 'vm', externalId: 'u', host: 'box', power: is }
    const answer = vmReadiness(vm, observed, false)
    assert.deepEqual([answer.reason, answer.ready], [reason, ready])
  })
