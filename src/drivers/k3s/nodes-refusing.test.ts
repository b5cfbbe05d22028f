// A node's refusal is reported while the cluster still looks healthy, with the next step.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clusterRecord } from '../../engine/clusters/judge.ts'
import { ShellFailure } from '../../lib/shell.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const NAMES = 's1 a1'
const KEY = 'a1 shows the host key SHA256:abc, but Git names SHA256:def. Nothing was sent.'
const SUDO = 'dave may not become root on a1: sudo: a password is required. Let it run sudo without a password.'

const rows: readonly [string, (lab: DriverLab) => () => void, string | undefined, RegExp][] = [
  ['another host key', refusal('host-key', KEY), 'way-in', /a1 shows the host key SHA256:abc.*ssh\.hostKeys/],
  ['sudo that is refused', refusal('denied', SUDO), 'way-in', /dave may not become root on a1.*croft doctor/],
  ['a disk without room', diskFull, 'disk-full', /the disk of a1 is full: 0 MiB.*make room/],
  ['a node that is only out of reach for a moment', refusal('unreachable', 'no route'), undefined, /^$/],
]

function refusal(code: string, message: string) {
  return (lab: DriverLab) => {
    lab.refusing.set('a1', new ShellFailure('no', code, message))
    return () => lab.refusing.delete('a1')
  }
}

function diskFull(lab: DriverLab) {
  const { trouble } = lab.box('a1').machine
  trouble.diskFull = true
  return () => delete trouble.diskFull
}

describe('a node with', () => {
  for (const [what, make, guard, said] of rows)
    test(`${what}: ${guard === undefined ? 'not said, as it passes' : 'said, with the next step, until it is mended'}`, async () => {
      const lab = driverLab(NAMES)
      await lab.until(allReady(NAMES), 900)
      const mend = make(lab)
      lab.restart()
      const { observed, decision } = await lab.look()
      const holds = decision.holds.filter((hold) => hold.node === 'a1')
      assert.deepEqual(
        holds.map((hold) => hold.guard),
        guard === undefined ? [] : [guard],
      )
      assert.match(holds.map(({ reason, allow }) => `${reason} ${allow}`).join(), said)
      if (guard !== undefined) {
        const { conditions } = clusterRecord(
          { declaration: lab.declaration(), observed, decision },
          [],
          undefined,
          lab.clock.now(),
        )
        const synced = conditions.find(({ type }) => type === 'Synced')
        assert.match(`${synced?.status} ${synced?.message}`, /^False .*a1/)
      }
      mend()
      assert.deepEqual((await lab.look()).decision.holds, [])
    })
})
