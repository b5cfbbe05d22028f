import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TOP = '/sys/fs/cgroup'

/**
 * Returns the words before a program that put it into separate control groups, so that three kubelets of one computer do not
 * take each other's pods for orphans. With the second version there is one tree, and systemd-nspawn divides the group that
 * it is started in: two hosts in one group would get the same part of it.
 */
export function cgroupsOf(name: string): readonly string[] {
  const groups = trees().map((controller) => {
    const group = join(TOP, controller, name)
    mkdirSync(group, { recursive: true })
    for (const file of controller === 'cpuset' ? ['cpuset.cpus', 'cpuset.mems'] : [])
      writeFileSync(join(group, file), readFileSync(join(TOP, controller, file), 'utf8').trim())
    // A host is a whole computer: it does not share a processor as one process among the many of this one.
    if (existsSync(join(group, 'cpu.shares'))) writeFileSync(join(group, 'cpu.shares'), '8192')
    return group
  })
  const enter = groups.map((group) => `echo $$ >${group}/cgroup.procs`).join('; ')
  return ['sh', '-c', `${enter}; exec "$@"`, 'lab']
}

/** Takes them away when nothing is left in them; from the leaves up. */
export function removeCgroups(name: string): void {
  for (const controller of trees()) remove(join(TOP, controller, name))
}

function remove(group: string): void {
  if (!existsSync(group)) return
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) remove(join(group, entry.name))
  try {
    rmdirSync(group)
  } catch {
    // Something in it is still ending: an empty group costs nothing.
  }
}

/** Below the top: one for each controller, or the top itself where there is only one tree. */
function trees(): readonly string[] {
  if (existsSync(join(TOP, 'cgroup.controllers'))) return ['']
  return readdirSync(TOP).filter((one) => one !== 'unified' && existsSync(join(TOP, one, 'cgroup.procs')))
}
