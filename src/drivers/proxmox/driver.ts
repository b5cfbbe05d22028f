import type { Driver } from '../port.ts'
import { proxmoxRules } from './rules.ts'
import { openSession } from './session.ts'

/** Speaks to Proxmox VE over its HTTPS API with a token, and nothing else. */
export const proxmoxDriver: Driver = { name: 'proxmox', rules: proxmoxRules, connect: openSession }
