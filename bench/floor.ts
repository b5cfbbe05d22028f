import { Agent, request } from 'undici'

/**
 * The floor: the least that a Node program with a common HTTP client can do to know what `croft plan` must know, the
 * list of all guests and the configuration of each. It parses the answers and compares nothing.
 */
const [endpoint = '', concurrency = '4'] = process.argv.slice(2)
const connections = Number(concurrency)
const headers = { authorization: `PVEAPIToken=${process.env.PROXMOX_TOKEN}` }
const dispatcher = new Agent({ connections, connect: { rejectUnauthorized: false } })

type Fields = Readonly<Record<string, unknown>>

interface Guest {
  readonly type: string
  readonly node: string
  readonly vmid: number
}

async function read<T>(path: string): Promise<T> {
  const { statusCode, body } = await request(`${endpoint}/api2/json${path}`, { dispatcher, headers })
  const answer = (await body.json()) as { data: T }
  if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`)
  return answer.data
}

const resources = await read<readonly Guest[]>('/cluster/resources')
const guests = resources.filter((entry) => entry.type === 'qemu' && entry.vmid >= 1000)
let next = 0
let keys = 0
async function worker(): Promise<void> {
  for (let guest = guests[next++]; guest !== undefined; guest = guests[next++]) {
    keys += Object.keys(await read<Fields>(`/nodes/${guest.node}/qemu/${guest.vmid}/config`)).length
  }
}
await Promise.all(Array.from({ length: connections }, worker))
await dispatcher.close()
process.stdout.write(`${guests.length} guests, ${keys} keys\n`)
