import type { Driver, Session } from '../src/drivers/port.ts'
import type { RestCall, Step } from '../src/model/step.ts'

/*
 * Every call of every driver that can destroy, by method, path and parameters: judged by what it does to the system, and by nothing
 * that the step says of itself.
 */

interface RestRow {
  readonly what: string
  readonly method: RegExp
  readonly path: RegExp
  /** Absent: for all parameters. */
  readonly params?: (params: RestCall['params']) => boolean
}

const DISK_SLOT = /^(?:(?:scsi|virtio|sata|ide)\d+|mp\d+|unused\d+|efidisk0|tpmstate0|rootfs)$/

export const REST_ROWS: readonly RestRow[] = [
  { what: 'deletes what stands at the path', method: /^DELETE$/, path: /./ },
  {
    what: 'takes a disk out of a guest, or destroys an unused one',
    method: /^(?:PUT|POST)$/,
    path: /^\/nodes\/[^/]+\/(?:qemu|lxc)\/\d+\/config$/,
    params: ({ delete: names = '' }) => names.split(',').some((name) => DISK_SLOT.test(name) && name !== 'ide2'),
  },
  {
    what: 'unlinks disks by force',
    method: /^PUT$/,
    path: /^\/nodes\/[^/]+\/qemu\/\d+\/unlink$/,
  },
  {
    what: 'shrinks a disk',
    method: /^PUT$/,
    path: /^\/nodes\/[^/]+\/(?:qemu|lxc)\/\d+\/resize$/,
    params: ({ size = '' }) => size.startsWith('-'),
  },
  { what: 'rolls back to a snapshot', method: /^POST$/, path: /\/snapshot\/[^/]+\/rollback$/ },
  {
    what: 'restores over a guest',
    method: /^POST$/,
    path: /^\/nodes\/[^/]+\/(?:qemu|lxc)$/,
    params: ({ force }) => force === '1',
  },
  {
    what: 'overwrites a file of a storage',
    method: /^POST$/,
    path: /^\/nodes\/[^/]+\/storage\/[^/]+\/(?:upload|download-url)$/,
    params: ({ overwrite }) => overwrite === '1',
  },
  { what: 'makes a pool on disks', method: /^POST$/, path: /^\/nodes\/[^/]+\/disks\/(?:zfs|lvm|lvmthin|directory)$/ },
  { what: 'wipes a disk', method: /^PUT$/, path: /^\/nodes\/[^/]+\/disks\/wipedisk$/ },
  { what: 'prunes backups', method: /^POST$/, path: /prunebackups/ },
]

const PROGRAMS: readonly { readonly what: string; readonly line: RegExp }[] = [
  { what: 'destroys a guest as root', line: /\b(?:qm|pct) destroy\b/ },
  {
    what: 'takes a disk out of a guest as root',
    line: /\b(?:qm|pct) set \d+ .*--delete \S*\b(?:scsi|virtio|sata|mp|unused)\d/,
  },
  {
    what: 'wipes a disk or a file system',
    line: /\b(?:mkfs(?:\.\w+)?|wipefs|blkdiscard|sgdisk|zpool (?:destroy|create)|zfs destroy|lvremove|vgremove)\b/,
  },
  { what: 'deletes a tree', line: /\brm -[a-z]*r[a-z]* (?:-- )?['"]?\/(?!run\/|tmp\/|\S*\/croft)/ },
  { what: 'undefines a domain', line: /\bvirsh\b.*\b(?:undefine|vol-delete|pool-delete|snapshot-delete)\b/ },
  { what: 'uninstalls a release', line: /\bhelm uninstall\b/ },
]

/** What a step of a thing destroys outside, in words. Undefined: nothing. */
export function destructionIn(step: Step): string | undefined {
  switch (step.lane) {
    case 'rest': {
      const { method, path, params } = step.call
      return REST_ROWS.find(
        (row) => row.method.test(method) && row.path.test(path) && (row.params === undefined || row.params(params)),
      )?.what
    }
    case 'object': {
      const { write } = step
      if (write.do === 'delete') return 'deletes an object'
      return write.do === 'helm' && write.run === 'uninstall' ? 'uninstalls a release' : undefined
    }
    case 'commands': {
      // An item of a host is taken back by the commands that were noted when it was put there.
      if (step.verb === 'delete') return 'takes an item back'
      for (const command of step.commands) {
        if ('object' in command) {
          if (command.do === 'delete') return 'deletes an object of a hypervisor'
        } else if (command.do === 'run') {
          const line = command.argv.join(' ')
          const found = PROGRAMS.find((row) => row.line.test(line))
          if (found !== undefined) return found.what
        }
      }
      return undefined
    }
  }
}

/** The driver, whose steps are judged by the table before they are performed. */
export function judgedByTable(driver: Driver): Driver {
  return {
    ...driver,
    connect(...args) {
      const session = driver.connect(...args)
      const perform: Session['perform'] = (step, signal) => {
        const what = destructionIn(step)
        // The engine takes an error of a session for an unclear outcome: the test itself must fail.
        if (what !== undefined && step.destroys === undefined)
          setImmediate(() => {
            throw new Error(`${step.summary} (${what}) carries no destruction`)
          })
        return session.perform(step, signal)
      }
      return Object.assign(Object.create(session), { perform }) as Session
    },
  }
}
