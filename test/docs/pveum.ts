import { request } from 'node:https'
import { pveumCall } from '../../src/drivers/proxmox/doctor/testing/pveum.ts'

/** What root types on a host of Proxmox, done by the API of the simulator at PROXMOX. It checks every parameter. */
const { PROXMOX = '', PROXMOX_TOKEN = '' } = process.env
const { method, path, params } = pveumCall(process.argv.slice(2))
const headers = { authorization: `PVEAPIToken=${PROXMOX_TOKEN}`, 'content-type': 'application/x-www-form-urlencoded' }
const call = request(`${PROXMOX}/api2/json${path}`, { method, headers, rejectUnauthorized: false }, (answer) => {
  let body = ''
  answer.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  answer.on('end', () => {
    if (answer.statusCode !== 200) {
      process.stderr.write(`${answer.statusCode} ${answer.statusMessage} ${body}\n`)
      process.exitCode = 255
      return
    }
    const { data } = JSON.parse(body) as { data: unknown }
    if (data !== null) process.stdout.write(`${JSON.stringify(data)}\n`)
  })
})
call.end(new URLSearchParams(params).toString())
