import { withOneDeed } from '../with-one-fault.ts'

withOneDeed('an upgrade that is taken back')
