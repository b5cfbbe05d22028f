import { test } from 'node:test'
import { everyStep } from './power-fault-cases.ts'
import { OWN_FAULTS } from './power-fault-table.ts'

test('[A45] the host that croft runs on goes at any step of off and on, and is started again', (t) =>
  everyStep(t, 'power-own-host.test.ts', OWN_FAULTS, { ordinary: 1, croftInside: true }))
