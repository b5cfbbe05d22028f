import type { Descriptions } from './describe.ts'

export const estate: Descriptions = {
  uid: '16 hexadecimal digits that identify this directory; croft init and the first croft apply write it. Never change it.',
}
