import type { Descriptions } from './describe.ts'
import { secretAt } from './shared/secret.ts'

export const healthCheck: Descriptions = {
  description: 'One line for people.',
  every: 'Time between two runs of the check, like 60s.',
  timeout: 'How long croft waits for an answer, like 5s.',
  failures: 'Number of consecutive failures after which the check counts as failed.',
  tcp: 'Passes if a TCP connection opens.',
  'tcp.host': 'DNS name or IP address to connect to.',
  'tcp.port': 'TCP port to connect to.',
  http: 'Passes if a URL answers as expected.',
  'http.url': 'URL to fetch, without user or password.',
  'http.status': 'HTTP status codes that pass.',
  'http.contains': 'Text that the response must contain; without it any text passes.',
  ...secretAt('http.token', 'Bearer token that croft sends; without it croft sends none.'),
  'http.fingerprint':
    'SHA-256 fingerprint of the certificate, AA:BB:…; without it the trust store of the system decides.',
  dns: 'Passes if a DNS query has an answer.',
  'dns.name': 'Name to look up.',
  'dns.type': 'Record type.',
  'dns.server': 'DNS server to ask; without it the resolver of the system.',
  'dns.expect': 'Value that must be among the answers; without it any answer passes.',
  cluster: 'Name of a Cluster; passes if its API answers and all its nodes are Ready.',
  command: 'Passes if a command exits with 0.',
  'command.on': 'Name of the machine or Host that runs the command.',
  'command.run': 'Program and its arguments; no shell reads them.',
}
