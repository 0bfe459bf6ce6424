"""Plain English prose in which no pattern should find anything; a yardstick for how broad a regex
is.
"""

from __future__ import annotations

PROSE = """
The ferry left the harbour a little after six, when the fog had thinned enough to show the lighthouse. On deck
a few passengers leaned against the rail and watched the gulls follow the wake. Nobody spoke much. It had been
a long winter, and the first mild morning felt like something that a loud word might frighten away.

In the galley the cook sliced onions and hummed. She had worked on the boat for nineteen years and knew each of
its noises: the cough of the engine when it was cold, the rattle of the third window, the sigh of the door to
the stairs. When the kettle began to sing she poured two cups, one for herself and one for the man at the wheel.

Bread is older than writing. Long before anyone kept a list of harvests, people crushed wild grain between
stones, mixed the meal with water and baked it on the embers of a fire. The loaf that rises came later, perhaps
by accident, when a bowl of dough was forgotten overnight and the yeast of the air found it. A baker today still
works with the same four things: flour, water, salt and time. Of these the last is the one that cannot be bought.

The committee met on the second Tuesday of the month in a room above the library. There were seven members, and
usually four of them came. They discussed the roof, which leaked, the garden, which was doing well, and the
proposal to open on Sundays, which was postponed as it had been the month before. Minutes were taken, read and
approved. Afterwards they stayed for tea, and that was when the real decisions were made.

A river does not hurry to the sea. It bends around a hill because the rock there is harder, widens where the
land is flat, and in a dry summer hides under its own stones. The map in the school showed it as a blue line of
even width, and the children who had swum in it knew that this was wrong. They drew their own map, with the deep
pool under the willow, the place where the bank had slipped, and the island that was there only in August.

How a clock works is easily said: something falls or unwinds, and something else lets it do so only a little at a
time. The rest is care. The old man had repaired watches for fifty years at a bench by the window, and he used to
tell his apprentices that the hands were the least important part. People look at them, he said, and so they think
that the hands know what time it is. But the hands only repeat what they are told.

When the software was new, everyone who used it could name the person who had written it. If a report came out
wrong they walked down the corridor and asked. Ten years on, the corridor had been sold and the author lived by
the sea, yet each night at two the program still added up the sales of the day and sent them to an address that
nobody read. It was not switched off, because no one was sure what else would stop. In the end a careful engineer
spent three weeks with it, wrote down what it did in a page of plain words, and found that it did nothing at all.

The market opened early. By seven the stalls stood in their rows, the apples polished, the fish on ice, the
cheeses under their glass bells. A boy went about with a tray of coffee. He knew who took sugar and who did not,
who paid at once and who on Fridays. At noon the square was so full that a cart could not have crossed it, and by
three it was empty again except for pigeons, a few leaves of cabbage and a woman sweeping.

To learn a language is to become a child for a while. You point at things and ask what they are called; you say
what you can rather than what you mean; and people who are kind answer slowly. After some months there comes a day
on which you understand a joke, and another on which you make one. Grammar can be taught, but this cannot. It has
to be waited for, like the ripening of a pear, which is hard on Monday, hard on Tuesday, and on Wednesday is gone.

The orchestra tuned. A long note from the oboe, then the strings, first apart and then together, like birds that
settle on one wire. In the last row of the gallery a student opened the score on her knees. She had read it so
often that she hardly needed the players, and yet when the first chord came she sat up as if she had been called.
There are things that are known and still surprise, and she thought that music might be nothing else.

Rain fell through the night and into the next day. The path along the ridge turned to mud, and the walkers who
had planned to cross it stayed in the hut and played cards by the stove. Toward evening the clouds lifted for a
quarter of an hour. They all went out and stood in the wet grass without their coats and looked at the mountains,
which were white to the foot with new snow, and nobody thought to take a picture until it was too late.

Good rules are few and short. The garden had only three: shut the gate, return the tools, and take no more than you
can eat. For years they were enough. Then someone painted a fourth on a board, about dogs, and a fifth, about
bicycles, and by the time there were twelve nobody read them any more, and the gate stood open.
"""
