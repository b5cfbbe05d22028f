import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explore, told } from './explore.ts'
import { storyCalled } from './stories.ts'

/** One fault at every moment of a story. Each story has a separate file, so that they run side by side. */
export function withOneFault(name: string): void {
  within(name, { faults: 1, deeds: 0 })
}

/** One deed of a person at every moment of a story. */
export function withOneDeed(name: string): void {
  within(name, { faults: 0, deeds: 1 })
}

function within(name: string, budget: { readonly faults: number; readonly deeds: number }): void {
  test(`croft, with ${budget.faults === 1 ? 'one fault' : 'one deed of a person'} at any moment: ${name}`, async () => {
    const world = await storyCalled(name).begins()
    const { findings, whole, states } = await explore(world, { ...budget, states: 20_000 })
    assert.ok(whole && states > 200, `${states} states`)
    assert.equal(findings.length, 0, told(findings))
  })
}
