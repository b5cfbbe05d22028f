import { guestIn, type Resource, withGuestFields } from '../../model/resource.ts'
import { CliError, UsageError, type Verb } from '../verb.ts'
import { loadForOperation, machineNamed } from './machine/find.ts'
import { perform } from './machine/power.ts'

/**
 * Moves a machine to another host now. Git is not involved: a machine with a declared host is kept wherever it is,
 * until its declaration changes.
 */
export const run: Verb = async (runtime, [name = '', target = ''], options) => {
  const { estate, real } = await loadForOperation(runtime, String(options.dir))
  const resource = machineNamed(estate, name)
  const declared = guestIn(resource.desired)?.host
  const wish = {
    what: 'move',
    resource: movedTo(resource, target),
    done: `is on ${target}`,
    instead: `host: ${target}`,
    ...(resource.placement !== undefined || declared === target
      ? {}
      : { afterwards: `Git declares it on ${declared}; it is kept on ${target} until host changes there.` }),
  }
  return perform({ runtime, directory: real, estate, resource, options }, wish)
}

function movedTo({ placement, ...resource }: Resource, target: string): Resource {
  if (target === '') throw new UsageError('Name the host: croft move web-1 still-fawn.')
  const candidate = placement?.candidates.find(({ host, node }) => host === target || node === target)
  const unfit = placement?.unfit.find(({ host }) => host === target)
  if (placement !== undefined && candidate === undefined)
    throw new CliError(`${resource.key} cannot be on ${target}: ${unfit?.why ?? 'no such Host is declared'}.`)
  const moveHere = { why: 'somebody asked for it', once: true } as const
  const there = candidate?.desired ?? withGuestFields(resource.desired, { host: target })
  return { ...resource, desired: withGuestFields(there, { moveHere }), needs: candidate?.needs ?? resource.needs }
}
