import { seededRandom } from '../src/lib/random.ts'
import type { WireResponse } from '../src/lib/wire.ts'
import { createDatacentre, type Datacentre, type DatacentreOptions } from './datacentre.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/** A datacentre on a virtual clock with a client beside it that knows the token: for tests of the simulator. */
export interface TestClient {
  readonly clock: VirtualClock
  readonly datacentre: Datacentre
  /** Sends and does not wait: the answer comes when the clock is moved. */
  send(method: string, path: string, params?: Readonly<Record<string, string>>): Promise<WireResponse>
  /** One call, answered. */
  call(method: string, path: string, params?: Readonly<Record<string, string>>): Promise<WireResponse>
  /** The `data` of a call that must succeed. */
  data<T = unknown>(method: string, path: string, params?: Readonly<Record<string, string>>): Promise<T>
  /** Begins a task and waits for its end; answers its exit status. */
  task(method: string, path: string, params?: Readonly<Record<string, string>>): Promise<string>
  pass(ms: number): Promise<void>
}

export function createTestClient(options: Partial<DatacentreOptions> & { readonly seed?: number } = {}): TestClient {
  const clock = createVirtualClock(1_790_000_000_000)
  const { seed, ...rest } = options
  const datacentre = createDatacentre({ clock, random: seededRandom(seed ?? 1), ...rest })
  const send: TestClient['send'] = (method, path, params) =>
    datacentre.handle({
      method,
      path: `/api2/json${path}`,
      headers: {
        authorization: `PVEAPIToken=${datacentre.token}`,
        ...(params === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(params === undefined ? {} : { body: new URLSearchParams(params).toString() }),
    })
  const call: TestClient['call'] = (method, path, params) => clock.runUntil(send(method, path, params))
  const client: TestClient = {
    clock,
    datacentre,
    send,
    call,
    async data<T>(method: string, path: string, params?: Readonly<Record<string, string>>) {
      const answer = await call(method, path, params)
      if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.reason} ${answer.body}`)
      return (JSON.parse(answer.body) as { data: T }).data
    },
    async task(method, path, params) {
      const upid = await client.data<string>(method, path, params)
      return exitOf(client, upid)
    },
    pass: (ms) => clock.advanceTo(clock.now() + ms),
  }
  return client
}

/** Waits for a task and answers how it ended. */
export async function exitOf(client: TestClient, upid: string): Promise<string> {
  const node = upid.split(':')[1] ?? ''
  const task = client.datacentre.world.hosts.get(node)?.tasksById.get(upid)
  if (task === undefined) throw new Error(`there is no task ${upid}`)
  await client.clock.runUntil(() => task.exit !== undefined)
  return task.exit ?? ''
}

export const NOBLE_IMAGE = 'local:import/noble-server-cloudimg-amd64.qcow2'

/** A guest with a disk from an image, as croft would ask for it. */
export const WEB: Readonly<Record<string, string>> = {
  vmid: '114',
  name: 'web',
  cores: '2',
  memory: '2048',
  agent: '1',
  tags: 'croft;uid-abc',
  description: 'kept by croft',
  scsi0: `local-zfs:0,import-from=${NOBLE_IMAGE}`,
  net0: 'virtio,bridge=vmbr0',
}

export const HOST = '/nodes/fun-bedbug'
