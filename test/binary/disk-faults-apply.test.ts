import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { LONG } from '../simulation/volume.ts'
import { endAll, estateAt, scratch, start, startSimulator } from './children.ts'
import { buildDiskFaults, type DiskFault, faultSettings } from './disk-faults.ts'
import { noneDoubledOrLost, type SimState, soundDatabase } from './kill-oracle.ts'
import { webVm } from './web-vm.ts'

after(endAll)

const place = scratch()
const library = buildDiskFaults(place)
const skip = library === undefined && process.env.CI === undefined ? 'gcc is not installed' : false

test('[F-24] the disk fails under croft apply: it stops with a word, does nothing that it has not written down, and the next run ends well', {
  skip,
}, async (t) => {
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '100'], place)
  const strangers = (await simulator.door<SimState>('GET', 'state')).guests
  let number = 0
  const stand = () => {
    const cwd = path.join(place, `apply-${++number}`)
    mkdirSync(path.join(cwd, 'data'), { recursive: true })
    estateAt(path.join(cwd, 'estate'), simulator, { 'vm.yaml': webVm() })
    const data = path.join(cwd, 'data')
    const database = path.join(data, 'croft.db')
    const env = {
      HOME: path.join(place, 'home'),
      PROXMOX_TOKEN: simulator.token,
      CROFT_FAULT_COUNT: path.join(cwd, 'count'),
    }
    const apply = (fault?: DiskFault) => {
      const broken = fault === undefined ? {} : { LD_PRELOAD: library ?? '', ...faultSettings(data, fault) }
      const words = ['apply', '--yes', '--timeout', '240s', '--state', database, 'estate']
      return start(words, { cwd, env: { ...env, ...broken } }).ended
    }
    return { cwd, database, apply }
  }
  const count = async (call: DiskFault['call']) => {
    const { cwd, apply } = stand()
    assert.equal((await apply({ call, n: 0, error: 'EIO' })).code, 0)
    await simulator.door('DELETE', 'guests/205')
    const file = path.join(cwd, 'count')
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  }
  let failed = 0
  let cases = 0
  for (const call of ['write', 'fsync'] as const) {
    const places = await count(call)
    const step = LONG ? 1 : Math.max(1, Math.ceil(places / (call === 'write' ? 4 : 2)))
    for (let n = 1; n <= places; n += step) {
      cases++
      const stays = cases % 2 === 0
      const fault: DiskFault = { call, n, error: stays ? 'ENOSPC' : 'EIO', stays }
      const hint = `${JSON.stringify(fault)} of ${places}`
      const { database, apply } = stand()
      const broken = await apply(fault)
      if (broken.code !== 0) {
        failed++
        assert.match(broken.stderr, /croft\.db|disk|database|written/i, `${broken.stderr}; ${hint}`)
        assert.ok(!/\n\s+at /.test(broken.stderr), `a stack instead of a word: ${broken.stderr}; ${hint}`)
      }
      const left = soundDatabase(database, simulator, hint)
      noneDoubledOrLost(await simulator.door<SimState>('GET', 'state'), left, strangers, 'killed', hint)
      const again = await apply()
      assert.equal(again.code, 0, `${again.stdout}${again.stderr}; ${hint}`)
      const state = await simulator.door<SimState>('GET', 'state')
      assert.equal(state.guests.length, strangers.length + 1, hint)
      noneDoubledOrLost(state, soundDatabase(database, simulator, hint), strangers, 'ended', hint)
      await simulator.door('DELETE', 'guests/205')
    }
  }
  assert.ok(failed > 2, `only ${failed} of ${cases} were noticed`)
  t.diagnostic(`${cases} places, ${failed} of them ended the run`)
})
