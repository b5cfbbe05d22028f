import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hottest, readSensors, wattsBetween } from './host-sensors.ts'

const at = (microjoules: number, uptime: number) => readSensors([`energy ${microjoules}`, `uptime ${uptime}`])

test('a box is as hot as its hottest part, and one without sensors is not cold', () => {
  assert.equal(hottest(readSensors(['temperature 41000 acpitz', 'temperature 63900 coretemp', 'else 90000'])), 64)
  assert.equal(hottest(readSensors(['temperature 255000 broken', 'temperature 0 none', 'temperature x y'])), undefined)
})

test('[F-22] what is drawn comes from the counter and the time since the start, never from a clock that people set', () => {
  assert.equal(wattsBetween(at(1e9, 100), at(1.3e9, 110)), 30)
  assert.equal(wattsBetween(undefined, at(1e9, 100)), undefined, 'one look says nothing')
  assert.equal(wattsBetween(at(9e9, 100), at(1e6, 110)), undefined, 'the counter turned over')
  assert.equal(wattsBetween(at(1e9, 900), at(2e9, 5)), undefined, 'it was started in between')
  assert.equal(wattsBetween(at(1e9, 100), readSensors(['power 41300000', 'energy 1', 'uptime 200'])), 41.3)
})
