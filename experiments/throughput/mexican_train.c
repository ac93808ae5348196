/* The yardstick of the benchmark: Mexican Train in plain C, and nothing that Python needs.

   Four seats, double-12, the `engine` preset, one round an episode: all constants of the compiler.
   It deals the same rounds as `BatchedGame` and writes the same mask, observation and rewards,
   byte for byte (tests/test_throughput.py), so both do the same work. It trusts its caller. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAYERS = 4,
    PIPS = 13,
    TILES = PIPS * (PIPS + 1) / 2,
    TRAINS = PLAYERS + 1,
    HAND = 15,
    WORDS = 2,
    DRAW = TRAINS * TILES,
    PASS = DRAW + 1,
    ACTIONS = PASS + 1,
    ROW = 2 * TILES + TRAINS * (PIPS + 1) + PLAYERS + 2 * TRAINS + PLAYERS + 2 + PIPS
          + (PLAYERS - 1) * PIPS + PLAYERS + 4 + 2 * PLAYERS,
};

typedef uint64_t Set[WORDS]; /* of tiles */

typedef struct {
    uint64_t seed, match, stream;
    Set table, hands[PLAYERS];
    uint8_t round, to_move, over, drew, passes, owes_play, doubles, engine, markers;
    uint8_t boneyard_size, num_played, num_pending;
    uint8_t pending[TRAINS], ends[TRAINS], lengths[TRAINS];
    uint8_t hand_sizes[PLAYERS], turns_taken[PLAYERS];
    uint16_t lacks[PLAYERS];
    int32_t penalties[PLAYERS];
    uint8_t boneyard[TILES], played[TILES], onto[TILES];
} Game;

static uint8_t low[TILES], high[TILES], ids[PIPS][PIPS];
static Set pip_tiles[PIPS];

static void make_tables(void) {
    int tile = 0;
    for (int a = 0; a < PIPS; a++)
        for (int b = a; b < PIPS; b++, tile++) {
            low[tile] = a, high[tile] = b;
            ids[a][b] = ids[b][a] = tile;
            pip_tiles[a][tile / 64] |= 1ull << tile % 64;
            pip_tiles[b][tile / 64] |= 1ull << tile % 64;
        }
}

/* ------------------------------------------------------------------------------------- streams */

#define GAMMA 0x9E3779B97F4A7C15ull

static uint64_t mix(uint64_t z) {
    z += GAMMA;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

static uint64_t open_stream(const Game *g, uint64_t topic) {
    return mix(mix(mix(g->seed) ^ g->match) ^ topic);
}

static int below(Game *g, uint64_t n) {
    for (;;) {
        uint64_t product = (mix(g->stream) >> 32) * n;
        g->stream += GAMMA;
        if ((uint32_t)product >= (1ull << 32) % n) return product >> 32;
    }
}

/* ---------------------------------------------------------------------------------------- deal */

static int draw_tile(Game *g, int seat) {
    int tile = g->boneyard[--g->boneyard_size];
    g->hands[seat][tile / 64] |= 1ull << tile % 64;
    g->hand_sizes[seat]++;
    return tile;
}

static void deal(Game *g) {
    uint64_t seed = g->seed, match = g->match;
    memset(g, 0, offsetof(Game, boneyard));
    g->seed = seed, g->match = match;
    g->stream = open_stream(g, (1ull << 32) + 1);
    g->round = below(g, PIPS);
    g->engine = PIPS - 1 - g->round;
    memset(g->ends, g->engine, TRAINS);
    int engine_tile = ids[g->engine][g->engine], size = TILES - 1, at = 0;
    for (int tile = TILES - 1; tile >= 0; tile--)
        if (tile != engine_tile) g->boneyard[at++] = tile;
    g->stream = open_stream(g, g->round);
    for (int i = size - 1; i > 0; i--) {
        int a = size - 1 - i, b = size - 1 - below(g, i + 1);
        uint8_t tile = g->boneyard[a];
        g->boneyard[a] = g->boneyard[b];
        g->boneyard[b] = tile;
    }
    g->boneyard_size = size;
    for (int seat = 0; seat < PLAYERS; seat++)
        for (int i = 0; i < HAND; i++) draw_tile(g, seat);
    g->table[engine_tile / 64] |= 1ull << engine_tile % 64;
    g->to_move = g->round % PLAYERS;
}

/* --------------------------------------------------------------------------------------- legal */

static int clockwise(int seat, int steps) {
    return seat + steps < PLAYERS ? seat + steps : seat + steps - PLAYERS;
}

static int open_trains(const Game *g) {
    if (g->num_pending && !g->owes_play) return 1 << g->pending[0];
    return 1 << g->to_move | g->markers | 1 << PLAYERS;
}

static void legal(const Game *g, int8_t *mask) {
    int seat = g->to_move, trains = open_trains(g), any = 0;
    uint64_t hand[WORDS];
    memcpy(hand, g->hands[seat], sizeof hand);
    memset(mask, 0, ACTIONS);
    for (int target = 0; target < TRAINS; target++) {
        int train = target == PLAYERS ? target : clockwise(seat, target);
        if (!(trains >> train & 1)) continue;
        const uint64_t *fitting = pip_tiles[g->ends[train]];
        for (int w = 0; w < WORDS; w++)
            for (uint64_t fits = hand[w] & fitting[w]; fits; fits &= fits - 1) {
                mask[target * TILES + w * 64 + __builtin_ctzll(fits)] = 1;
                any = 1;
            }
    }
    if (!any) mask[g->boneyard_size && !g->drew ? DRAW : PASS] = 1;
}

/* --------------------------------------------------------------------------------------- apply */

static int ends_of(const Game *g, int trains) {
    int pips = 0;
    for (int train = 0; train < TRAINS; train++)
        if (trains >> train & 1) pips |= 1 << g->ends[train];
    return pips;
}

static void end_round(Game *g) {
    g->over = 1;
    for (int seat = 0; seat < PLAYERS; seat++)
        for (int w = 0; w < WORDS; w++)
            for (uint64_t left = g->hands[seat][w]; left; left &= left - 1) {
                int tile = w * 64 + __builtin_ctzll(left);
                g->penalties[seat] += low[tile] + high[tile];
            }
}

static void settle(Game *g, int train) {
    int kept = 0;
    for (int i = 0; i < g->num_pending; i++)
        if (g->pending[i] != train) g->pending[kept++] = g->pending[i];
    g->num_pending = kept;
}

static void end_turn(Game *g) {
    g->turns_taken[g->to_move]++;
    g->drew = g->owes_play = g->doubles = 0;
    for (int i = g->num_pending - 1; i >= 0; i--) { /* doubles that nobody can cover bind nobody */
        const uint64_t *tiles = pip_tiles[g->ends[g->pending[i]]];
        uint64_t missing = 0;
        for (int w = 0; w < WORDS; w++) missing |= tiles[w] & ~g->table[w];
        if (!missing) settle(g, g->pending[i]);
    }
    g->to_move = clockwise(g->to_move, 1);
}

static void play(Game *g, int tile, int train) {
    int seat = g->to_move, is_double = low[tile] == high[tile];
    g->played[g->num_played] = tile;
    g->onto[g->num_played++] = train;
    settle(g, train);
    g->ends[train] = low[tile] + high[tile] - g->ends[train];
    g->lengths[train]++;
    if (is_double) g->pending[g->num_pending++] = train;
    g->hands[seat][tile / 64] &= ~(1ull << tile % 64);
    g->table[tile / 64] |= 1ull << tile % 64;
    g->passes = g->drew = g->owes_play = 0;
    if (train == seat) g->markers &= ~(1 << seat);
    if (--g->hand_sizes[seat] == 0)
        end_round(g);
    else if (is_double)
        g->owes_play = 1, g->doubles++;
    else
        end_turn(g);
}

static void draw_for_play(Game *g) {
    g->lacks[g->to_move] |= ends_of(g, open_trains(g));
    draw_tile(g, g->to_move);
    g->drew = 1;
}

static void pass_turn(Game *g) {
    int seat = g->to_move, pips = ends_of(g, open_trains(g));
    g->lacks[seat] = g->drew ? pips : g->lacks[seat] | pips;
    g->markers |= 1 << seat;
    g->passes = g->boneyard_size == 0 ? g->passes + 1 : 0;
    end_turn(g);
}

static void apply(Game *g, int action) {
    if (action < DRAW) {
        int target = action / TILES;
        play(g, action % TILES, target == PLAYERS ? target : clockwise(g->to_move, target));
    } else if (action == DRAW)
        draw_for_play(g);
    else
        pass_turn(g);
    if (!g->over && g->passes >= PLAYERS) end_round(g);
}

/* ------------------------------------------------------------------------------------- observe */

static uint8_t *write_bits(uint8_t *row, uint64_t bits, int size) {
    for (int i = 0; i < size; i++) row[i] = bits >> i & 1;
    return row + size;
}

static uint8_t *write_one_hot(uint8_t *row, int at, int size) {
    memset(row, 0, size);
    row[at] = 1;
    return row + size;
}

static uint8_t *write_set(uint8_t *row, const Set tiles) {
    return write_bits(write_bits(row, tiles[0], 64), tiles[1], TILES - 64);
}

static void observe(const Game *g, uint8_t *row) {
    int seat = g->to_move;
    row = write_set(row, g->hands[seat]);
    row = write_set(row, g->table);
    uint8_t *markers = row + TRAINS * (PIPS + 1), *lengths = markers + PLAYERS;
    uint8_t *pending = lengths + TRAINS, *first_turn = pending + TRAINS;
    for (int target = 0; target < TRAINS; target++) {
        int train = target == PLAYERS ? target : clockwise(seat, target);
        lengths[target] = g->lengths[train];
        row = write_one_hot(row, g->lengths[train] ? g->ends[train] : PIPS, PIPS + 1);
    }
    memset(pending, 0, TRAINS);
    for (int i = 0; i < g->num_pending; i++) {
        int train = g->pending[i];
        pending[train == PLAYERS ? train : clockwise(train, PLAYERS - seat)] = i + 1;
    }
    for (int i = 0; i < PLAYERS; i++) {
        markers[i] = g->markers >> clockwise(seat, i) & 1;
        first_turn[i] = g->turns_taken[clockwise(seat, i)] == 0;
    }
    row = first_turn + PLAYERS;
    *row++ = g->owes_play;
    *row++ = g->doubles;
    row = write_one_hot(row, g->engine, PIPS);
    for (int i = 1; i < PLAYERS; i++) row = write_bits(row, g->lacks[clockwise(seat, i)], PIPS);
    row = write_one_hot(row, 0, PLAYERS); /* who looks is to move */
    *row++ = g->drew;
    *row++ = g->passes;
    *row++ = g->boneyard_size;
    *row++ = g->round;
    for (int i = 0; i < PLAYERS; i++) {
        row[i] = g->hand_sizes[clockwise(seat, i)];
        row[PLAYERS + i] = 0; /* an episode is one round: nobody is behind */
    }
}

/* ------------------------------------------------------------------------------------- batches */

/* Return `count` games with the same deals as `BatchedGame(..., seed=seed)`, or NULL. */
Game *make_games(int64_t count, uint64_t seed, int8_t *masks, uint8_t *rows) {
    Game *games = malloc(count * sizeof(Game));
    if (!games) return NULL;
    make_tables();
    for (int64_t i = 0; i < count; i++) {
        games[i].seed = seed, games[i].match = i;
        deal(&games[i]);
        legal(&games[i], masks + i * ACTIONS);
        observe(&games[i], rows + i * ROW);
    }
    return games;
}

void free_games(Game *games) { free(games); }

int64_t bytes_per_game(void) { return sizeof(Game); }

/* Carry out one legal action in each game; a round that ended is paid, and the next one dealt.
   Returns -1, or the first game whose action its mask forbids; nothing has changed then. */
int64_t step_games(Game *games, int64_t count, const int64_t *actions, int8_t *masks,
                   uint8_t *rows, float *rewards) {
    for (int64_t i = 0; i < count; i++)
        if (actions[i] < 0 || actions[i] >= ACTIONS || !masks[i * ACTIONS + actions[i]]) return i;
    for (int64_t i = 0; i < count; i++) {
        Game *g = &games[i];
        float *paid = rewards + i * PLAYERS;
        memset(paid, 0, PLAYERS * sizeof *paid);
        apply(g, actions[i]);
        if (g->over) {
            double total = 0;
            for (int seat = 0; seat < PLAYERS; seat++) total += g->penalties[seat];
            for (int seat = 0; seat < PLAYERS; seat++) {
                double own = g->penalties[seat];
                paid[seat] = (float)(1.0 / 20) * (float)((total - own) / (PLAYERS - 1) - own);
            }
            g->match += count;
            deal(g);
        }
        legal(g, masks + i * ACTIONS);
        observe(g, rows + i * ROW);
    }
    return -1;
}
