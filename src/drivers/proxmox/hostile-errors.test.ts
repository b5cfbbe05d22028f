import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import { translate } from './api-errors.ts'

test('[S-51] an error of Proxmox that repeats one word for megabytes is judged at once, by its beginning', () => {
  for (const word of ["storage '", "storage 'a' ", 'VM ', ' is locked (', 'a', ' ']) {
    const text = word.repeat(Math.ceil(1_000_000 / word.length))
    const before = process.threadCpuUsage()
    const { message } = translate({ status: 500, text, parameters: { net0: text }, doing: 'x' })
    const { user } = process.threadCpuUsage(before)
    // Without the limit it took minutes.
    assert.ok(user < 10_000_000, `${word}: ${user} µs`)
    assert.ok(message.length < 2 * LIMITS.foreignTextLength + 500)
  }
  const late = `${'x'.repeat(LIMITS.judgedErrorLength - 100)} VM is locked (clone)`
  assert.match(translate({ status: 500, text: late, doing: 'x', guest: '102', host: 'pve1' }).message, /qm unlock 102/)
})
