import { seededRandom } from '../../../src/lib/random.ts'
import type { WireResponse } from '../../../src/lib/wire.ts'
import { createDatacentre } from '../../datacentre.ts'
import { createVirtualClock } from '../../virtual-clock.ts'
import { differences, normal } from './compare.ts'
import { uploadBody } from './uploads.ts'

/** One recorded exchange with the real daemon. */
export interface Recorded {
  readonly label: string
  readonly method: string
  readonly path: string
  readonly req_body: string | null
  readonly req_ctype: string | null
  readonly req_headers: Readonly<Record<string, string>>
  readonly auth: string
  readonly status: number
  readonly reason: string
  readonly body: string
}

export interface Replayed {
  readonly good: number
  readonly total: number
  readonly skipped: number
  readonly different: readonly Difference[]
}

/** One answer that is not as recorded. */
export interface Difference {
  /** The line in its file, from 1. */
  readonly line: number
  /** From 0: which of the files. */
  readonly file: number
  readonly label: string
  /** `label METHOD path: what differs`. */
  readonly text: string
}

const UPID = /UPID:[^"\s/]+:/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The recorder did not keep the bytes. */
const LEFT_OUT = Symbol('left out')
const FORM = 'application/x-www-form-urlencoded'
const PASSWORDS: Readonly<Record<string, string>> = { 'root@pam': 'rootpw123', 'admin@pve': 'secret123' }

/** Sends what was recorded to a fresh datacentre, in order, and says where it answers otherwise. */
export async function replay(
  files: readonly (readonly Recorded[])[],
  options: { readonly guestBeforeSecond: boolean; readonly without?: readonly string[] },
): Promise<Replayed> {
  const clock = createVirtualClock(startedMs(files[0] ?? []))
  const datacentre = createDatacentre({ clock, random: seededRandom(7), preset: 'recording' })
  // Files that were laid on the host only before a later recording.
  for (const name of options.without ?? []) datacentre.world.hosts.get('pve1')?.volumes.get('local')?.delete(name)
  const different: Difference[] = []
  const counts = { good: 0, total: 0, skipped: 0 }
  const known = {
    ticket: '',
    csrf: '',
    digest: '',
    rootToken: '',
    made: new Map<string, string>(),
    ids: new Map<string, string>(),
    tickets: new Map<string, [string, string]>(),
  }

  const send = (method: string, path: string, headers: Record<string, string>, body?: string | Uint8Array) =>
    clock.runUntil(datacentre.handle({ method, path, headers, ...(body === undefined ? {} : { body }) }))
  const wait = (ms: number) => clock.advanceTo(clock.now() + ms)
  const tokenOf = (id: string) => `PVEAPIToken=${id}=${datacentre.tokens[id] ?? known.made.get(id)}`

  async function makeGuest100(): Promise<void> {
    const headers = { Authorization: tokenOf('admin@pve!t1'), 'Content-Type': FORM }
    const config =
      'vmid=100&name=t100&memory=512&cores=1&agent=1&scsihw=virtio-scsi-pci&scsi0=local%3A1&net0=virtio%2Cbridge%3Dvmbr0'
    const more = '&ide2=local%3Acloudinit&ciuser=x&ipconfig0=ip%3Ddhcp&boot=order%3Dscsi0%3Bide2%3Bnet0'
    await send('POST', '/api2/json/nodes/pve1/qemu', headers, config + more)
    await wait(4000)
    await send('POST', '/api2/json/nodes/pve1/qemu/100/status/start', headers, '')
    await wait(6000)
  }

  /** What changed on the real host before a line without a recorded call. */
  async function arrange(label: string): Promise<void> {
    if (label === 'locked-cfg') datacentre.patchGuest(102, { lock: 'clone' })
    // The disk was given to another VM by a call that the simulator does not have.
    if (label === 'reassign-src') datacentre.patchGuest(101, { scsi1: null })
    // A snapshot of the running VM failed half-way; its deletion failed too, and left its lock.
    if (label === 'vs-list') datacentre.patchGuest(160, { lock: 'snapshot-delete' })
    // The sandbox had no loop devices: containers with an image for a volume were not made.
    const unmade = { 'create-lock': [201], 'create-start': [290, 291] }[label] ?? []
    for (const vmid of unmade) {
      await wait(20_000)
      await send('DELETE', `/api2/json/nodes/pve1/lxc/${vmid}`, { Authorization: tokenOf('admin@pve!t1') })
      await wait(20_000)
    }
  }

  /** Headers as the recorder sent them, with this run's secrets. Undefined: it used one that this run does not have. */
  async function headersFor(record: Recorded): Promise<Record<string, string> | undefined> {
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(record.req_headers))
      if (!/^(Content-Type|Cookie|CSRFPreventionToken)$/.test(name)) headers[name] = value
    if (record.req_ctype !== null) headers['Content-Type'] = record.req_ctype
    const { auth, label } = record
    if (auth === 'token') headers.Authorization = tokenOf('admin@pve!t1')
    else if (auth === 'token-privsep') headers.Authorization = tokenOf('admin@pve!tps')
    else if (auth === 'other') {
      const zeros = '00000000-0000-0000-0000-000000000000'
      if (label === 'badtokenfmt') headers.Authorization = 'PVEAPIToken=admin@pve!t1'
      else if (label === 'unknowntoken') headers.Authorization = `PVEAPIToken=nobody@pve!zz=${zeros}`
      else if (label === 'badtoken') headers.Authorization = `PVEAPIToken=admin@pve!t1=${zeros}`
      else if (known.rootToken !== '') headers.Authorization = known.rootToken
      else return undefined
    } else if (auth.startsWith('token:')) {
      if (!known.made.has(auth.slice(6))) return undefined
      headers.Authorization = tokenOf(auth.slice(6))
    } else if (auth.startsWith('ticket:')) {
      const pair = await ticketOf(auth.slice(7))
      if (pair === undefined) return undefined
      headers.Cookie = `PVEAuthCookie=${encodeURIComponent(pair[0])}`
      headers.CSRFPreventionToken = pair[1]
    }
    if ('Cookie' in record.req_headers) {
      if (known.ticket === '') return undefined
      headers.Cookie = `PVEAuthCookie=${encodeURIComponent(known.ticket)}`
    }
    if ('CSRFPreventionToken' in record.req_headers)
      headers.CSRFPreventionToken = label === 'ticket-badcsrf' ? 'x:y' : known.csrf
    return headers
  }

  async function ticketOf(user: string): Promise<[string, string] | undefined> {
    const old = known.tickets.get(user)
    const password = PASSWORDS[user]
    if (old !== undefined || password === undefined) return old
    const body = new URLSearchParams({ username: user, password }).toString()
    const answer = await send('POST', '/api2/json/access/ticket', { 'Content-Type': FORM }, body)
    const { data } = JSON.parse(answer.body) as { data: { ticket: string; CSRFPreventionToken: string } }
    const pair: [string, string] = [data.ticket, data.CSRFPreventionToken]
    known.tickets.set(user, pair)
    return pair
  }

  function bodyFor(record: Recorded): string | Uint8Array | undefined | typeof LEFT_OUT {
    const { label } = record
    const body = record.req_body ?? undefined
    if (body === undefined) return undefined
    if (/^<\d+ bytes>$/.test(body)) return uploadBody(label) ?? LEFT_OUT
    if (label === 'renew-ticket')
      return new URLSearchParams({ username: 'root@pam', password: known.ticket }).toString()
    const fresh = label === 'digest-ok' || (record.status < 400 && known.digest !== '')
    return fresh ? body.replace(/digest=[0-9a-f]{40}/, `digest=${known.digest}`) : body
  }

  function learn(answer: WireResponse, upids: Map<string, string>, base: string): void {
    const data = (parsed(answer.body) as { data?: unknown } | undefined)?.data
    if (typeof data === 'string' && data.startsWith('UPID')) upids.set(base, data)
    if (typeof data !== 'object' || data === null) return
    const entry = data as Record<string, unknown>
    if (typeof entry.digest === 'string') known.digest = entry.digest
    if (typeof entry.ticket === 'string') {
      known.ticket = entry.ticket
      known.csrf = String(entry.CSRFPreventionToken)
    }
    const id = entry['full-tokenid']
    if (typeof id === 'string') {
      known.made.set(id, String(entry.value))
      if (id.startsWith('root@pam')) known.rootToken = `PVEAPIToken=${id}=${String(entry.value)}`
    }
  }

  for (const [number, records] of files.entries()) {
    if (number === 1 && options.guestBeforeSecond) await makeGuest100()
    const upids = new Map<string, string>()
    for (let index = 0; index < records.length; index++) {
      let record = records[index]
      if (record === undefined) break
      const isPoll = record.label.endsWith('/status') && UPID.test(record.path)
      // Of repeated polls the last one counts.
      while (isPoll && records[index + 1]?.label === record.label) record = records[++index] ?? record
      await arrange(record.label)
      const base = record.label.split('/')[0] ?? ''
      const path = record.path
        .replace(UPID, (recorded) => upids.get(base) ?? (record?.label.startsWith('task-bad') ? recorded : ''))
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, (recorded) => known.ids.get(recorded) ?? recorded)
      const headers = await headersFor(record)
      const body = bodyFor(record)
      const endless = record.label.endsWith('/status') && record.body.includes('"status":"running"')
      const lost = UPID.test(record.path) && !upids.has(base)
      if (headers === undefined || body === LEFT_OUT || endless || lost) {
        counts.skipped += 1
        continue
      }
      let answer = await send(record.method, path, headers, body)
      for (let poll = 0; poll < 600 && isPoll && answer.body.includes('"status":"running"'); poll++) {
        await wait(400)
        answer = await send(record.method, path, headers, body)
      }
      await wait(50)
      counts.total += 1
      const problems = judge(record, answer)
      if (problems.length === 0) counts.good += 1
      else {
        const text = `${record.label} ${record.method} ${path.slice(0, 80)}: ${problems.slice(0, 3).join(' | ')}`
        different.push({ file: number, line: index + 1, label: record.label, text })
      }
      learn(answer, upids, base)
      for (const [recorded, ours] of drawnIds(parsed(record.body), parsed(answer.body))) known.ids.set(recorded, ours)
    }
  }
  return { ...counts, different }
}

/** When the recorder began: just before the first task that it saw. */
function startedMs(records: readonly Recorded[]): number {
  for (const { body } of records) {
    const started = /UPID:[^:]+:[0-9A-F]+:[0-9A-F]+:([0-9A-F]{8}):/.exec(body)?.[1]
    if (started !== undefined) return Number.parseInt(started, 16) * 1000
  }
  return 1_794_704_000_000
}

/** The ids that each run draws by itself, in the order of a list: the recorded one and ours. */
function drawnIds(want: unknown, got: unknown): readonly (readonly [string, string])[] {
  const ids = (answer: unknown) => {
    const data = dataOf(answer)
    if (!Array.isArray(data)) return []
    return data.map((entry) => String((entry as { id?: unknown } | null)?.id)).filter((id) => UUID.test(id))
  }
  const ours = ids(got)
  return ids(want).flatMap((id, index) => (ours[index] === undefined ? [] : [[id, ours[index]] as const]))
}

function judge(record: Recorded, answer: WireResponse): string[] {
  if (answer.status !== record.status) return [`status ${record.status} != ${answer.status} (${answer.reason})`]
  const want = parsed(record.body)
  const got = parsed(answer.body)
  if (record.status >= 400) {
    const reason =
      normal(record.reason) === normal(answer.reason) ? [] : [`reason ${record.reason} != ${answer.reason}`]
    if (want === undefined)
      return normal(record.body) === normal(answer.body) ? reason : [...reason, `body ${record.body} != ${answer.body}`]
    return [...reason, ...differences(want, got)]
  }
  if (want === undefined) return []
  const problems = differences(dataOf(want), dataOf(got), 'data')
  return record.label.endsWith('/log') ? problems.filter((problem) => !/items|data\[/.test(problem)) : problems
}

function dataOf(value: unknown): unknown {
  return (value as { data?: unknown } | undefined)?.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
