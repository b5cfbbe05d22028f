import type { Descriptions } from './describe.ts'

export const addressPool: Descriptions = {
  description: 'One line for people.',
  cidr: 'Network of the addresses, like 192.168.4.0/24; every address gets its prefix.',
  ranges: 'Ranges that croft assigns from; without it all but the first and the last address.',
  'ranges.from': 'First address of the range.',
  'ranges.to': 'Last address of the range.',
  reserved: 'Addresses that croft never assigns by itself; a machine may still state one.',
}
