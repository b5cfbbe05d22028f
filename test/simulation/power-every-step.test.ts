import { test } from 'node:test'
import { everyStep } from './power-fault-cases.ts'
import { FAULTS } from './power-fault-table.ts'

test('[A44] [A45] [A48] [A50] [F-30] whatever goes wrong at any step of off and on: no data lost, nothing of ours left', (t) =>
  everyStep(t, 'power-every-step.test.ts', FAULTS, { ordinary: 3 }))
