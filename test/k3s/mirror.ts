import { createSocket } from 'node:dgram'
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'

/*
 * What stands beside the hosts of the lab: a mirror with the layout of K3s' releases, and an ear for magic packets. It
 * runs inside the lab's network and tells the MAC of each packet as a line.
 */
interface Order {
  readonly address: string
  readonly port: number
  /** By path: a file of this computer, or a text. */
  readonly files: Readonly<Record<string, { readonly file: string } | { readonly text: string }>>
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order

createServer((request, response) => {
  const found = order.files[decodeURIComponent(request.url ?? '')]
  if (found === undefined) return void response.writeHead(404).end()
  if ('text' in found) return void response.writeHead(200).end(found.text)
  response.writeHead(200, { 'content-length': statSync(found.file).size })
  if (request.method === 'HEAD') return void response.end()
  createReadStream(found.file).pipe(response)
}).listen(order.port, order.address, () => process.stdout.write('ready\n'))

const ear = createSocket('udp4')
ear.on('message', (packet) => {
  const mac = packet.subarray(6, 12)
  if (packet.length < 102 || !packet.subarray(0, 6).every((byte) => byte === 0xff)) return
  process.stdout.write(`wake ${[...mac].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}\n`)
})
ear.bind(9)
