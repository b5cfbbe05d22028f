import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObserved } from '../testing/vm-example.ts'
import { importGuest } from './vm.ts'

test('an import names what a device is, also where Proxmox would take that anyway, and other parts only where they differ', () => {
  const table: readonly (readonly [config: Readonly<Record<string, string>>, field: string, block: unknown])[] = [
    [{ audio0: 'device=intel-hda,driver=spice' }, 'audioDevice', [{ device: 'intel-hda' }]],
    [{ audio0: 'device=AC97,driver=none' }, 'audioDevice', [{ device: 'AC97', driver: 'none' }]],
    [{ watchdog: 'model=i6300esb,action=none' }, 'watchdog', [{ model: 'i6300esb' }]],
    [{ watchdog: 'ib700,action=reset' }, 'watchdog', [{ model: 'ib700', action: 'reset' }]],
    [{ rng0: 'source=/dev/urandom,max_bytes=1024,period=1000' }, 'rng', [{ source: '/dev/urandom' }]],
  ]
  for (const [config, field, block] of table) {
    const fields = importGuest(exampleObserved(config))?.fields as Readonly<Record<string, unknown>> | undefined
    assert.deepEqual(fields?.[field], block, JSON.stringify(config))
  }
})
