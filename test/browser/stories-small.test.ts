import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { tellStories } from './stories.ts'

tellStories('3 machines', smallEstate)
