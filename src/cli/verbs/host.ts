import { UsageError } from '../exit.ts'
import type { Verb } from '../verb.ts'
import { confirmed } from './host/confirm.ts'
import { copy, reboot, runProgram, uploadIso } from './host/deeds.ts'
import { diff } from './host/diff.ts'
import { enroll } from './host/enroll.ts'
import { hostNamed, onHost } from './host/find.ts'
import { devices, facts, iommu, pools, smart } from './host/looks.ts'
import { wake } from './host/wake.ts'

/** Operations on one physical box: what a person does now, beside what Git declares. */
export const run: Verb = async (runtime, [what = '', name = '', ...words], options) => {
  // A host that is being enrolled need not be declared yet.
  if (what === 'enroll') return enroll(runtime, name, options)
  const host = await hostNamed(runtime, name, options)
  switch (what) {
    case 'diff':
      return diff(runtime, host, options)
    case 'run':
      return onHost(runtime, host, what, runProgram(runtime, words, options), options)
    case 'copy':
      return onHost(runtime, host, what, copy(runtime, words, options), options)
    case 'upload-iso':
      return onHost(runtime, host, what, uploadIso(runtime, words, options), options)
    case 'reboot':
      await confirmed(runtime, `Restart ${name} now?`, options)
      return onHost(runtime, host, what, reboot(runtime, name), options)
    case 'wake':
      return wake(runtime, host, options)
    case 'facts':
      return onHost(runtime, host, what, facts(runtime, options), options)
    case 'devices':
      return onHost(runtime, host, what, devices(runtime, options), options)
    case 'iommu':
      return onHost(runtime, host, what, iommu(runtime), options)
    case 'smart':
      return onHost(runtime, host, what, smart(runtime), options)
    case 'pools':
      return onHost(runtime, host, what, pools(runtime), options)
    default:
      throw new UsageError(
        `There is no croft host ${what}. Use enroll, diff, run, copy, upload-iso, reboot, wake, facts, devices, iommu, smart or pools.`,
      )
  }
}
