import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { GuestSnapshot, GuestSnapshots } from '../port.ts'
import { words } from './survey.ts'
import type { Virsh } from './virsh.ts'
import { find, parseXml, textIn } from './xml.ts'

/** Snapshots as libvirt keeps them: inside the disks, with the memory of a guest that runs. */
export function snapshotsOf(open: () => Virsh): GuestSnapshots {
  return {
    async list({ externalId: uuid, host }, signal) {
      const virsh = open()
      const doing = `list the snapshots of domain ${uuid} on ${host}`
      const [all = '', current = ''] = await virsh.ask(
        [
          ['snapshot-list', '--name', uuid],
          ['snapshot-current', '--name', uuid],
        ],
        doing,
        signal,
      )
      const names = words(all).slice(0, LIMITS.surveyEntries)
      const answers = await virsh.ask(
        names.map((name) => ['snapshot-dumpxml', uuid, '--snapshotname', name]),
        doing,
        signal,
      )
      return names.map((name, at): GuestSnapshot => {
        const seconds = Number(textIn(find(parseXml(answers[at] ?? ''), 'creationTime')))
        return {
          name: cleanText(name, LIMITS.foreignNameLength),
          current: words(current)[0] === name,
          ...(Number.isFinite(seconds) && seconds > 0 ? { createdMs: seconds * 1000 } : {}),
        }
      })
    },
    take: ({ externalId: uuid, host }, name, signal) =>
      open().write(
        ['snapshot-create-as', uuid, '--name', name, '--atomic'],
        { doing: `take snapshot ${name} of domain ${uuid} on ${host}`, says: /snapshot .* created/ },
        signal,
      ),
    revert: ({ externalId: uuid, host }, name, signal) =>
      open().write(
        ['snapshot-revert', uuid, '--snapshotname', name],
        { doing: `bring domain ${uuid} on ${host} back to snapshot ${name}`, says: /^\s*$|reverted/ },
        signal,
      ),
    remove: ({ externalId: uuid, host }, name, signal) =>
      open().write(
        ['snapshot-delete', uuid, '--snapshotname', name],
        { doing: `remove snapshot ${name} of domain ${uuid} on ${host}`, says: /snapshot .* deleted/ },
        signal,
      ),
  }
}
